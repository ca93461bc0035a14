/** fast-check arbitraries that more than one package uses. */
export * from './emqp.js';
export * from './frames.js';
export * from './mdp.js';
export * from './nfp.js';
export * from './ppp.js';
export * from './pzq.js';
