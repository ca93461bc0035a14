/** Peers, their keys, and rules about them, in words. */
import { fromLatin1 } from '@proj/frames';
import { Access } from '@proj/transport';
import type { AccessRules, Peer } from '@proj/transport';
import { encodeZ85 } from '@proj/transport/curve';

const KEY_BYTES = 32;

/** The key of that owner. */
export function keyOf(owner: string): Uint8Array {
  return Uint8Array.from({ length: KEY_BYTES }, (_, index) => owner.charCodeAt(index % owner.length));
}

/** The peer of that name: `w1@ada` has Ada's key, a name without `@` no key. Equal names give equal peers, never the same object. */
export function peerNamed(name: string): Peer {
  const peer = { key: name, id: fromLatin1(name) };
  const [, owner] = name.split('@');
  return owner === undefined ? peer : { ...peer, publicKey: keyOf(owner) };
}

/** Rules whose keys are names of owners. */
export function accessFor(rules: AccessRules): Access {
  return new Access(
    rules.map((rule) => ({
      ...rule,
      keys: rule.keys === '*' ? '*' : rule.keys.map((owner) => encodeZ85(keyOf(owner))),
    })),
  );
}
