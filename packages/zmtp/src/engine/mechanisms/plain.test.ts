import { describe, expect, it } from 'vitest';
import { EngineRecorder } from '../../test/recorder.js';
import { plain } from './plain.js';

const GREETING = (asServer: string) =>
  `ff00000000000000007f0301504c41494e${'00'.repeat(15)}${asServer}${'00'.repeat(31)}`;
const SIGNATURE = 'ff00000000000000007f';

function server(): EngineRecorder {
  const authorize = (username: string, password: string) => username === 'name' && password === 'pass';
  return new EngineRecorder({ security: plain({ role: 'server', authorize }) });
}

function client(): EngineRecorder {
  const security = plain({ role: 'client', username: 'name', password: 'pass' });
  return new EngineRecorder({ socketType: 'DEALER', identity: Buffer.from('me'), security });
}

describe('the handshake of PLAIN', () => {
  it('is HELLO, WELCOME, INITIATE, READY', () => {
    const [dealer, router] = [client(), server()];
    expect([dealer.output(), router.output()]).toEqual([GREETING('00'), SIGNATURE]);
    router.receive(GREETING('00'));
    expect(SIGNATURE + router.output()).toBe(GREETING('01'));
    const hello = dealer.receive(GREETING('01')).output();
    expect(hello).toBe('04100548454c4c4f046e616d650470617373');
    const welcome = router.receive(hello).output();
    expect(welcome).toBe('04080757454c434f4d45');
    const initiate = dealer.receive(welcome).output();
    expect(initiate.slice(4, 22)).toBe('08494e495449415445');
    dealer.receive(router.receive(initiate).output());
    expect([router.story, dealer.story]).toEqual([['ready me'], ['ready ']]);
  });

  it('ends with ERROR 400 for a wrong password', () => {
    const router = server();
    router.receive(GREETING('00'));
    router.output();
    router.receive('04100548454c4c4f046e616d650470617374');
    expect([router.story, router.output()]).toEqual([['failed denied'], '040a054552524f5203343030']);
    const dealer = client().receive(GREETING('01'), '040a054552524f5203343030');
    expect(dealer.story).toEqual(['failed denied']);
  });

  it('fails for the ERROR of libzmq 4.3.4, whose name is damaged', () => {
    expect(client().receive(GREETING('01'), '04095e52524f5203343030').story).toEqual(['failed malformed']);
  });

  it.each([
    ['without a password', '040b0548454c4c4f046e616d65'],
    ['that is cut short', '040f0548454c4c4f046e616d6504706173'],
    ['with more than both', '04110548454c4c4f046e616d65047061737300'],
    ['that is empty', '04060548454c4c4f'],
  ])('fails for a HELLO %s', (_, hex) => {
    expect(server().receive(GREETING('00'), hex).story).toEqual(['failed security']);
  });

  it('fails for commands that arrive too early', () => {
    expect(server().receive(GREETING('00'), '040908494e495449415445').story).toEqual(['failed malformed']);
    expect(client().receive(GREETING('01'), '0406055245414459').story).toEqual(['failed malformed']);
    expect(client().receive(GREETING('01'), '04090757454c434f4d4500').story).toEqual(['failed security']);
  });
});
