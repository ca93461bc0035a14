/** 18/MDP and 7/MDP on one socket: the three ways a peer may frame its messages, as shared values. */
import type { MdpFraming } from '@proj/frames/mdp';

const V01: MdpFraming = { version: '0.1', leadingEmpty: false };
const V02: MdpFraming = { version: '0.2', leadingEmpty: false };
const V02_BEHIND_EMPTY: MdpFraming = { version: '0.2', leadingEmpty: true };

/** The framing of a command, without the command: what is kept of a peer to answer it in kind. */
export function framingOf(command: MdpFraming): MdpFraming {
  if (command.version === '0.1') return V01;
  return command.leadingEmpty === true ? V02_BEHIND_EMPTY : V02;
}
