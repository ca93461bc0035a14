/** Binding, limits, peers that come and go, and the end of a socket. */
import { isProjError } from '../errors.js';
import { ROUTER_PEER } from '../port.js';
import { bytesOf, check, equal, failure, framesOf, numbered } from './rig.js';
import type { PortCapabilities, PortRig } from './rig.js';
import type { Cases } from './suite.js';

const BINDING: Cases<PortRig> = {
  async 'resolves bind to an endpoint that can be connected to'(rig) {
    const router = await rig.router();
    check(!router.endpoint.includes('*'), `${router.endpoint} has a wildcard`);
    await rig.met(router);
  },
  async 'binds several endpoints, one after the other and at once'(rig) {
    const port = await rig.bareRouter();
    const first = await port.bind(rig.subject.endpoint);
    const others = await Promise.all([port.bind(rig.subject.endpoint), port.bind(rig.subject.endpoint)]);
    const router = rig.listen(port);
    const endpoints = [first, ...others];
    equal(new Set(endpoints).size, 3, 'endpoints');
    for (const endpoint of endpoints) {
      const dealer = await rig.bareDealer();
      dealer.connect(endpoint);
      rig.listen(dealer).say(ROUTER_PEER, endpoint);
    }
    await router.received(3);
    equal([...router.texts].sort(), endpoints.sort(), 'messages');
  },
  async 'refuses an endpoint in use with ADDRESS_IN_USE, naming it'(rig) {
    const router = await rig.router();
    const second = await rig.bareRouter();
    const error = await failure(() => second.bind(router.endpoint));
    check(isProjError(error, 'ADDRESS_IN_USE'), `got ${String(error)}`);
    check(error.message.includes(router.endpoint), `${error.message} does not name the endpoint`);
    await rig.met(router);
  },
  async 'gives the endpoint back when it is closed, time and again'(rig) {
    const { endpoint, port: first } = await rig.router({}, await rig.ownEndpoint());
    await first.close();
    for (let round = 0; round < 20; round++) {
      const port = await rig.bareRouter();
      equal(await port.bind(endpoint), endpoint, 'endpoint');
      await port.close();
    }
  },
  async 'refuses what is no endpoint with OPTIONS_INVALID, naming it'(rig) {
    for (const endpoint of ['', 'nonsense', 'tcp://', 'tcp://127.0.0.1', 'tcp://127.0.0.1:99999']) {
      const router = await rig.bareRouter();
      const dealer = await rig.bareDealer();
      const errors = [
        await failure(() => router.bind(endpoint)),
        await failure(() => {
          dealer.connect(endpoint);
        }),
      ];
      for (const error of errors) {
        check(isProjError(error, 'OPTIONS_INVALID'), `${JSON.stringify(endpoint)} got ${String(error)}`);
        check(error.message.includes(endpoint), `${error.message} does not name the endpoint`);
      }
    }
  },
};

const LIMITS: Cases<PortRig> = {
  async 'drops a message of too many frames and reports it'(rig) {
    const router = await rig.router({ maxMessageFrames: 3 });
    const { dealer } = await rig.met(router);
    dealer.say(ROUTER_PEER, '1|2|3|4', '1|2|3');
    await router.received(1);
    equal([router.texts, router.rejected], [['1|2|3'], ['too-many-frames']], 'outcome');
  },
  async 'drops a message of too many bytes in all and reports it'(rig) {
    const router = await rig.router({ maxMessageBytes: 10 });
    const { dealer } = await rig.met(router);
    dealer.say(ROUTER_PEER, '123456|78901', '12345|67890');
    await router.received(1);
    equal([router.texts, router.rejected], [['12345|67890'], ['too-large']], 'outcome');
  },
  async 'never delivers a single frame over the limit, and goes on serving'(rig) {
    const router = await rig.router({ maxMessageBytes: 10 });
    const { dealer } = await rig.met(router);
    dealer.say(ROUTER_PEER, '12345678901');
    // On the same connection or the next one, the router still serves.
    await rig.met(router);
    equal(router.messages.length, 0, 'messages');
  },
  async 'refuses options out of bounds with OPTIONS_INVALID, naming option and value'(rig) {
    for (const [option, value] of [
      ['lingerMs', -1],
      ['highWaterMark', 0],
      ['maxMessageFrames', 1.5],
    ] as const) {
      const error = await failure(() => rig.bareRouter({ [option]: value }));
      check(isProjError(error, 'OPTIONS_INVALID'), `${option} = ${value} got ${String(error)}`);
      check(error.message.includes(`${option} = ${value}`), error.message);
    }
    for (const id of ['', '\0', 'x'.repeat(256)]) {
      const error = await failure(() => rig.bareDealer({ routingId: bytesOf(id) }));
      check(isProjError(error, 'OPTIONS_INVALID'), `a routing id of ${id.length} bytes got ${String(error)}`);
    }
  },
};

const PEERS: Cases<PortRig> = {
  async 'lets a known routing id be taken over with handover, once its holder is gone'(rig) {
    const router = await rig.router({ handover: true });
    const id = { routingId: bytesOf('twin') };
    const first = await rig.met(router, id);
    await first.dealer.port.close({ lingerMs: 0 });
    const second = await rig.met(router, id);
    equal([first.peer.key, second.peer.key], ['twin', 'twin'], 'keys');
    router.say(second.peer, 'for the second');
    await second.dealer.received(1);
    equal([first.dealer.texts, second.dealer.texts], [[], ['for the second']], 'messages');
  },
  async 'leaves a second connection with a known routing id mute without handover'(rig) {
    const router = await rig.router({ handover: false });
    const id = { routingId: bytesOf('twin') };
    const first = await rig.met(router, id);
    const second = await rig.dealer(router, id);
    second.say(ROUTER_PEER, 'unheard');
    // Whatever the router does with the second, it has done before it serves a third, which came later.
    await rig.met(router);
    await rig.met(router);
    router.say(first.peer, 'for the first');
    await first.dealer.received(1);
    equal([first.dealer.texts, second.texts, router.texts], [['for the first'], [], []], 'messages');
  },
};

/** Cases by the feature they need. */
export const DEPARTURES: Readonly<Record<keyof PortCapabilities, Cases<PortRig>>> = {
  peerGone: {
    async 'ends the connection of a peer that sends a frame far over the limit'(rig) {
      const router = await rig.router({ maxMessageBytes: 10 });
      const { dealer, peer } = await rig.met(router);
      dealer.say(ROUTER_PEER, 'x'.repeat(10_000));
      await router.until(() => router.gone.length > 0);
      equal([router.gone[0]?.key, router.messages.length], [peer.key, 0], 'outcome');
    },
    async 'tells a router when a dealer is gone, after its last message'(rig) {
      const router = await rig.router();
      const { dealer, peer } = await rig.met(router, { lingerMs: 5_000 });
      let last = 0;
      const gone = router.until(() => {
        if (router.gone.length === 0) last = router.messages.length;
        return router.gone.length > 0;
      });
      dealer.say(ROUTER_PEER, ...numbered(10));
      await dealer.port.close();
      await gone;
      equal([router.gone[0]?.key, last], [peer.key, 10], 'outcome');
      equal(await rig.refused(router, peer), 'unreachable', 'reason');
    },
  },
  routerGone: {
    async 'tells a dealer when its router is gone, and connects again by itself'(rig) {
      const first = await rig.router({}, await rig.ownEndpoint());
      const { dealer } = await rig.met(first);
      await first.port.close();
      await dealer.until(() => dealer.gone.length > 0);
      equal(dealer.gone[0]?.key, ROUTER_PEER.key, 'key');
      const port = await rig.bareRouter();
      await port.bind(first.endpoint);
      const second = rig.listen(port);
      dealer.say(ROUTER_PEER, 'again');
      await second.received(1);
      equal(second.texts, ['again'], 'messages');
    },
  },
  keepsHolder: {
    async 'keeps a routing id for the living connection that has it, and hears the newcomer once that ends'(rig) {
      for (const handover of [true, false]) {
        const router = await rig.router({ handover, connectionHeartbeatMs: 100 });
        const id = { routingId: bytesOf('twin'), connectionHeartbeatMs: 100 };
        const first = await rig.met(router, id);
        const second = await rig.dealer(router, id);
        second.say(ROUTER_PEER, 'from the second');
        await rig.pass(500);
        router.say(first.peer, 'for the first');
        await first.dealer.received(1);
        equal([first.dealer.texts, second.texts, router.texts], [['for the first'], [], []], 'messages');
        equal([router.gone.length, first.dealer.gone.length], [0, 0], 'reports');
        await first.dealer.port.close();
        await router.received(1);
        router.say(first.peer, 'for the second');
        await second.received(1);
        equal([router.texts, second.texts], [['from the second'], ['for the second']], 'messages');
      }
    },
  },
};

const END: Cases<PortRig> = {
  async 'hands over what a router has sent before it closes'(rig) {
    const router = await rig.router({ lingerMs: 5_000 });
    const { dealer, peer } = await rig.met(router);
    router.say(peer, ...numbered(100));
    await router.port.close();
    await dealer.received(100);
    equal(dealer.texts, numbered(100), 'messages');
  },
  async 'hands over what a dealer has sent before it closes'(rig) {
    const router = await rig.router();
    const dealer = await rig.dealer(router, { lingerMs: 5_000 });
    dealer.say(ROUTER_PEER, ...numbered(100));
    await dealer.port.close();
    await router.received(100);
    equal(router.texts, numbered(100), 'messages');
  },
  async 'calls its listener no more once closed, not even from inside a call'(rig) {
    const router = await rig.router();
    const dealer = await rig.dealer(router);
    router.onEach = () => {
      if (router.messages.length < 10) return;
      void router.port.close();
      router.say({ key: 'nobody', id: bytesOf('nobody') }, 'x');
    };
    dealer.say(ROUTER_PEER, ...numbered(1_000));
    await router.received(10);
    await router.port.close();
    await dealer.port.close();
    equal([router.messages.length, router.gone.length, router.undeliverable.length], [10, 0, 0], 'calls');
  },
  async 'closes once, however often it is asked'(rig) {
    const router = await rig.router();
    const closing = router.port.close();
    check(router.port.close() === closing, 'the promise is not shared');
    await closing;
    check(router.port.close() === closing, 'the promise is not kept');
  },
  async 'closes before it was started, bound or connected, and while it binds'(rig) {
    await (await rig.bareRouter()).close();
    await (await rig.bareDealer()).close();
    const port = await rig.bareRouter();
    const bound = port.bind(rig.subject.endpoint).catch(() => undefined);
    await port.close();
    await bound;
  },
  async 'ignores what is sent after it was closed'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    await Promise.all([router.port.close(), dealer.port.close()]);
    router.port.send(peer, framesOf('x'));
    dealer.port.send(ROUTER_PEER, framesOf('x'));
    equal([router.port.pending, router.port.pendingFor(peer), dealer.port.pending], [0, 0, 0], 'pending');
    equal([router.undeliverable.length, dealer.undeliverable.length], [0, 0], 'reports');
  },
  async 'is started once only'(rig) {
    const router = await rig.router();
    await failure(() => {
      router.port.start(router);
    });
  },
};

export const LIFECYCLE: Cases<PortRig> = { ...BINDING, ...LIMITS, ...PEERS, ...END };
