/** CURVE keys: generated, written, read, listed. For Node.js; needs neither libzmq nor any other package. */
export * from './access-file.js';
export * from './authorized-keys.js';
export { readCertificate, readPublicKey, readSecretCertificate, writeCertificate } from './certificate.js';
export type { Certificate } from './certificate.js';
export { generateCurveKeys, publicKeyOf } from './keys.js';
export * from './options.js';
export { decodeCurveKey, decodeZ85, encodeZ85 } from './z85.js';
