/**
 * The part of libsodium that the benchmark uses; the package has no types. Lengths are 64-bit numbers in two halves, the lower half
 * first.
 */
declare module 'libsodium-sumo' {
  export interface Sodium {
    readonly HEAPU8: Uint8Array;
    _malloc(bytes: number): number;
    _crypto_secretbox_easy(box: number, text: number, low: number, high: number, nonce: number, key: number): number;
  }
  export default function create(): Promise<Sodium>;
}
