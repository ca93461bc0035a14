// The tests that have sockets once more, without anything that is there only for speed: docs/adr/0028-speed-in-one-place.md.
import { mergeConfig } from 'vitest/config';
import { project } from '../../vitest.shared.js';

export default mergeConfig(project('zmtp, plain', { isolate: false }), {
  test: {
    env: { PROJ_ZMTP_PLAIN: '1' },
    include: ['src/{compliance,node-socket,port,pubsub,lanes,curve,turn,bounds,connection-writer}.test.ts'],
  },
});
