/** The part of libsodium that the benchmark uses, which brings no types. Lengths are numbers of 64 bits in two, the lower half first. */
declare module 'libsodium-sumo' {
  export interface Sodium {
    readonly HEAPU8: Uint8Array;
    _malloc(bytes: number): number;
    _crypto_secretbox_easy(box: number, text: number, low: number, high: number, nonce: number, key: number): number;
  }
  export default function create(): Promise<Sodium>;
}
