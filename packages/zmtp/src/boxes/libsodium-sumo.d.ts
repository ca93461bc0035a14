/** The part of libsodium that we use, which brings no types. Addresses and lengths are numbers; those of 64 bits are two, the lower half first. */
declare module 'libsodium-sumo' {
  export interface Sodium {
    /** The memory of the module, as it is now. */
    readonly HEAPU8: Uint8Array;
    _malloc(bytes: number): number;
    _crypto_secretbox_easy(box: number, text: number, low: number, high: number, nonce: number, key: number): number;
    _crypto_secretbox_open_easy(
      text: number,
      box: number,
      low: number,
      high: number,
      nonce: number,
      key: number,
    ): number;
    _crypto_stream_xsalsa20_xor_ic(
      to: number,
      from: number,
      low: number,
      high: number,
      nonce: number,
      blockLow: number,
      blockHigh: number,
      key: number,
    ): number;
    _crypto_onetimeauth_statebytes(): number;
    _crypto_onetimeauth_init(state: number, key: number): number;
    _crypto_onetimeauth_update(state: number, text: number, low: number, high: number): number;
    _crypto_onetimeauth_final(state: number, tag: number): number;
  }
  export default function create(): Promise<Sodium>;
}
