/** Epochs, which distinguish the keys of one store from those of another. */

/** 60 bits, the space in a key, from eight random bytes. */
export function drawEpoch(random: Uint8Array): bigint {
  return random.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) >> 4n;
}
