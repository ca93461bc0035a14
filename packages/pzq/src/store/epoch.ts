/** Epochs, which tell the keys of one store from those of another. */

/** 60 bits, as many as a key has room for, of eight random bytes. */
export function drawEpoch(random: Uint8Array): bigint {
  return random.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) >> 4n;
}
