/** Stands for `zeromq` in test files where it is not installed: whatever is used of it fails. vitest.shared.ts says when. */
function missing(): never {
  throw new Error('zeromq is not installed');
}

export { missing as curveKeyPair, missing as Dealer, missing as Publisher, missing as Router, missing as XPublisher };
