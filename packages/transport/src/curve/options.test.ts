import { describe, expect, it } from 'vitest';
import { clientCurve, encodeZ85, explainRefusal, generateCurveKeys, serverCurve } from './index.js';

const keys = generateCurveKeys();
const { publicKey } = generateCurveKeys();

describe('serverCurve and clientCurve', () => {
  it('are nothing without CURVE', () => {
    expect([serverCurve(undefined), clientCurve(undefined)]).toEqual([{}, {}]);
  });

  it('take what they are given', () => {
    const authorize = () => false;

    expect(serverCurve({ keys, authorize })).toEqual({ curve: { role: 'server', keys, authorize } });
    expect(serverCurve({ keys, authorize: undefined })).toEqual({ curve: { role: 'server', keys } });
    expect(clientCurve({ keys, serverKey: publicKey })).toEqual({
      curve: { role: 'client', keys, serverKey: publicKey },
    });
  });

  it('rule 54: accept the text of an inventory as the server key', () => {
    expect(clientCurve({ keys, serverKey: encodeZ85(publicKey) }).curve).toMatchObject({ serverKey: publicKey });
    expect(() => clientCurve({ keys, serverKey: 'x' })).toThrow('40 characters');
  });

  it('generate a pair for a client that has none', () => {
    const made = () => clientCurve({ serverKey: publicKey }).curve?.keys.publicKey ?? [];

    expect(made()).toHaveLength(32);
    expect(made()).not.toEqual(made());
  });
});

describe('explainRefusal', () => {
  it('rule 54: name the likely cause, and the key that is not on the list', () => {
    expect(explainRefusal({ reason: 'key', publicKey }, 'server')).toContain(encodeZ85(publicKey));
    expect(explainRefusal({ reason: 'key', publicKey }, 'client')).toContain('refused our key');
    expect(explainRefusal({ reason: 'handshake', cause: 'server-key' }, 'server')).toContain('another key');
    expect(explainRefusal({ reason: 'handshake', cause: 'mechanism' }, 'server')).toContain('does not use CURVE');
    expect(explainRefusal({ reason: 'handshake' }, 'server')).toContain('the peer ended it');
    expect(explainRefusal({ reason: 'handshake' }, 'client')).toContain('most likely');
  });
});
