/** CURVE keys: generated, written, read, listed. For Node.js; needs neither libzmq nor any other package. */
export { accessFile } from './access-file.js';
export type { AccessFile, AccessFileOptions } from './access-file.js';
export { AuthorizedKeys, authorizedKeys } from './authorized-keys.js';
export type { AuthorizedKeysOptions } from './authorized-keys.js';
export { readCertificate, readPublicKey, readSecretCertificate, writeCertificate } from './certificate.js';
export type { Certificate } from './certificate.js';
export { generateCurveKeys, publicKeyOf } from './keys.js';
export { clientCurve, explainRefusal, serverCurve } from './options.js';
export type { ClientCurve, ServerCurve } from './options.js';
export { decodeCurveKey, decodeZ85, encodeZ85 } from './z85.js';
