/** The name of a store: what tells its keys from those of another. */

/** The 60 bits that a key has room for, out of eight random bytes. */
export function drawEpoch(random: Uint8Array): bigint {
  return random.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) >> 4n;
}
