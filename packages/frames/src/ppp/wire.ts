/**
 * 6/PPP "Command Specifications" and plain ZeroMQ request-reply: every byte that is fixed, written down once. One word per
 * frame, the router's identity frame left out:
 *
 *     ; backend
 *     W>Q ready     = %x01
 *     W=Q heartbeat = %x02
 *     Q>W request   = [*address empty] content  ; 1*address from a queue or dispatcher of ours
 *     W>Q reply     = [*address empty] content  ; in the form of the request: to ours one frame is control
 *
 *     ; frontend: no command of 6/PPP
 *     C>Q request   = [*address empty] content  ; a REQ socket writes the empty frame by itself
 *     Q>C reply     = [*address empty] content  ; in the form of the request
 *
 *     address     = 1*OCTET
 *     correlation = 8OCTET                      ; a dispatcher's address: a number, big-endian
 *     empty       = 0OCTET
 *     content     = 1*( *OCTET )                ; one or more frames, empty ones included
 */

/** The control bytes. */
export const CONTROL = { ready: 0x01, heartbeat: 0x02 } as const;

/** The control frames, shared by all messages: do not modify them. */
export const CONTROL_FRAME = {
  ready: Uint8Array.of(CONTROL.ready),
  heartbeat: Uint8Array.of(CONTROL.heartbeat),
} as const;

/** Length of a dispatcher's correlation id. */
export const CORRELATION_BYTES = 8;
