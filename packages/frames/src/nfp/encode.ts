/** NFP, sending: the frames of every command, in its form and under its header. `wire.ts` holds the grammar. */
import { EMPTY_FRAME } from '../bytes.js';
import type { NfpBody, NfpCommand, NfpCommandForm, NfpDialect, NfpFromBroker, NfpHeader } from './commands.js';
import { writeName, writeTarget } from './text.js';
import { COMMAND_FRAME, type CommandName, HEADER_FRAME, writeStatus } from './wire.js';

/** The header under which a broker of this dialect sends this kind of command. */
export function nfpBrokerHeader(dialect: NfpDialect, kind: NfpFromBroker['kind']): NfpHeader {
  if (dialect === 'current' || kind === 'broker-open' || kind === 'broker-keepalive') return 'NFPB01';
  return kind === 'client-answer' ? 'NFPC01' : 'NFPW01';
}

/**
 * The frames of a command, without the router's identity frame. The caller owns the array; body frames are passed on unchanged and constant
 * frames are shared, so do not modify any frame.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: an invalid name, uuid, target or status, an empty client
 * address, or a required body without frames.
 */
export function encodeNfp(command: NfpCommand): Uint8Array[] {
  const { form } = command;
  switch (command.kind) {
    case 'client-open':
      return withBody(opening('NFPC01', form, 'open'), command.body);
    case 'worker-open':
      return withBody(opening('NFPW01', form, 'open'), command.body);
    case 'broker-open':
      return withBody(opening(command.header, form, 'open'), command.body);
    case 'worker-ready':
      return [...opening('NFPW01', form, 'ready'), writeName(command.service, 'service')];
    case 'worker-keepalive':
      return [...opening('NFPW01', form, 'keepalive'), writeName(command.service, 'service')];
    case 'broker-keepalive':
      return [...opening(command.header, form, 'keepalive'), writeName(command.service, 'service')];
    case 'worker-disconnect':
      return [...opening('NFPW01', form, 'disconnect'), writeName(command.service, 'service'), ...command.body];
    case 'broker-disconnect':
      return [
        ...opening(command.header, form, 'disconnect'),
        writeNameOrEmpty(command.service, 'service'),
        ...command.body,
      ];
    case 'client-call': {
      const frames = opening('NFPC01', form, command.command);
      frames.push(writeName(command.service, 'service'), writeTarget(command.target), writeName(command.uuid, 'uuid'));
      return withBody(frames, command.body);
    }
    case 'worker-call': {
      const header = HEADER_FRAME[command.header];
      const word = COMMAND_FRAME[form][command.command];
      const client = requireAddress(command.client);
      const uuid = writeName(command.uuid, 'uuid');
      return withRest([EMPTY_FRAME, header, word, client, EMPTY_FRAME, uuid, firstOf(command.body)], command.body);
    }
    case 'worker-table-call': {
      if (command.target === '')
        throw new RangeError('worker-table-call: an empty target would be read as a client address');
      const frames = opening(command.header, form, command.command);
      frames.push(writeName(command.service, 'service'), writeTarget(command.target), writeName(command.uuid, 'uuid'));
      return withBody(frames, command.body);
    }
    case 'worker-answer': {
      const frames = opening('NFPW01', form, command.command);
      frames.push(requireAddress(command.client), EMPTY_FRAME, writeName(command.uuid, 'uuid'));
      frames.push(writeStatus(command.status, command.statusText));
      return withBody(frames, command.body);
    }
    case 'worker-table-answer': {
      const frames = opening('NFPW01', form, command.command);
      frames.push(writeName(command.service, 'service'), writeName(command.uuid, 'uuid'));
      frames.push(writeStatus(command.status, command.statusText));
      return withBody(frames, command.body);
    }
    case 'client-answer': {
      const header = HEADER_FRAME[command.header];
      const word = COMMAND_FRAME[form][command.command];
      const service = writeNameOrEmpty(command.service, 'service');
      const uuid = writeNameOrEmpty(command.uuid, 'uuid');
      const status = writeStatus(command.status, command.statusText);
      return withRest([EMPTY_FRAME, header, word, service, uuid, status, firstOf(command.body)], command.body);
    }
  }
}

/** `empty header command` */
function opening(header: NfpHeader, form: NfpCommandForm, name: CommandName): Uint8Array[] {
  return [EMPTY_FRAME, HEADER_FRAME[header], COMMAND_FRAME[form][name]];
}

function withBody(frames: Uint8Array[], body: NfpBody): Uint8Array[] {
  frames.push(firstOf(body));
  return withRest(frames, body);
}

/** For the messages that a broker sends most: an array made with its first body frame is a quarter of one that has grown to take it. */
function withRest(frames: Uint8Array[], body: NfpBody): Uint8Array[] {
  for (let index = 1; index < body.length; index++) frames.push(body[index] as Uint8Array);
  return frames;
}

function firstOf(body: NfpBody): Uint8Array {
  const [first] = body;
  if (first === undefined)
    throw new RangeError('a message needs at least one body frame, an empty one if nothing else');
  return first;
}

function requireAddress(client: Uint8Array): Uint8Array {
  if (client.length === 0) throw new RangeError('the client address is empty');
  return client;
}

function writeNameOrEmpty(name: string, what: string): Uint8Array {
  return name === '' ? EMPTY_FRAME : writeName(name, what);
}
