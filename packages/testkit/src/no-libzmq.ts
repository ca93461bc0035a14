/** Replaces `zeromq` in tests where it is not installed: any use of it fails. See vitest.shared.ts. */
function missing(): never {
  throw new Error('zeromq is not installed');
}

export { missing as curveKeyPair, missing as Dealer, missing as Publisher, missing as Router, missing as XPublisher };
