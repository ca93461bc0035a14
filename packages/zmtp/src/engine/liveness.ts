/** When to ask a peer for a sign of life, when to send one, and when silence ends the connection: 37/ZMTP, "Connection Heartbeating". */

/** A connection that is not read sends at least this often. Milliseconds. */
const SIGN_MS = 1000;
/** And this often within the time for which the peer tolerates silence. */
const SIGNS_PER_PATIENCE = 6;

/** The clocks of one connection. Except for {@link probe}, they have no effect before the handshake is complete. */
export class Liveness {
  /** The peer knows PING; ZMTP 3.0 does not. */
  knowsPing = false;
  readonly #heartbeatMs: number;
  readonly #timeoutMs: number;
  #heardAt: number;
  #spokeAt: number;
  /** When we sent the PING that is still unanswered; `Infinity` if there is none. */
  #askedAt = Infinity;
  /** When a probe began that is still unanswered; `Infinity` if there is none. */
  #probedAt = Infinity;
  /** When the peer's time-to-live runs out if nothing follows its PING. */
  #ttlEndsAt = Infinity;
  /** How long the peer last said it tolerates silence. */
  #patienceMs = Infinity;
  /** We cannot receive now, for a reason that is not the peer's. */
  #deaf = false;

  constructor({ heartbeatMs, timeoutMs }: { readonly heartbeatMs: number; readonly timeoutMs: number }, now: number) {
    this.#heartbeatMs = heartbeatMs;
    this.#timeoutMs = timeoutMs;
    this.#heardAt = this.#spokeAt = now;
  }

  /** True if silence is detected: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.knowsPing && this.#heartbeatMs > 0;
  }

  /** The time-to-live in our PINGs. We send once per interval, and ask for our own timeout beyond it. */
  get ttlMs(): number {
    return this.#heartbeatMs > 0 ? this.#heartbeatMs + this.#timeoutMs : 0;
  }

  /** Something was received. */
  hear(now: number): void {
    this.#deaf = false;
    this.#heardAt = now;
    this.#askedAt = this.#probedAt = this.#ttlEndsAt = Infinity;
  }

  /** Output was sent. */
  speak(now: number): void {
    this.#spokeAt = now;
  }

  /** A PING was received. */
  onPing(ttlMs: number): void {
    if (ttlMs === 0) return;
    this.#patienceMs = ttlMs;
    this.#ttlEndsAt = this.#heardAt + ttlMs;
  }

  /** Nothing could be received until `until`, and perhaps later: silence up to then proves nothing. */
  excuse(until: number, stillDeaf: boolean): void {
    if (until > this.#heardAt) this.hear(until);
    this.#deaf = stillDeaf;
  }

  /** Gives the peer one interval or, without heartbeats, their timeout to answer. True if a PING must be sent. */
  probe(now: number): boolean {
    if (!this.knowsPing || this.#probedAt !== Infinity) return false;
    this.#probedAt = now;
    this.#spokeAt = now;
    return true;
  }

  /** When {@link tick} is due. With `isHeld` we do not read: silence proves nothing then, but we must still send. */
  deadline(isHeld: boolean): number {
    return isHeld || this.#deaf ? this.#nextSign() : Math.min(this.#silentAt(), this.#nextPing());
  }

  /** What is due: a PING, or the end with this sentence. Call it only at the {@link deadline}. */
  tick(now: number, isHeld: boolean): 'ping' | { readonly silence: string } {
    if (!isHeld && !this.#deaf) {
      if (this.#silentAt() <= now) return { silence: `the peer was silent for ${Math.round(now - this.#heardAt)} ms` };
      this.#askedAt = now;
    }
    this.#spokeAt = now;
    return 'ping';
  }

  #silentAt(): number {
    const probeMs = this.#heartbeatMs || this.#timeoutMs;
    return Math.min(this.#ttlEndsAt, this.#askedAt + this.#timeoutMs, this.#probedAt + probeMs);
  }

  #nextPing(): number {
    if (!this.noticesSilence || this.#askedAt !== Infinity) return Infinity;
    return Math.min(this.#heardAt, this.#spokeAt) + this.#heartbeatMs;
  }

  /** Twice as often as any peer may expect, even without heartbeats of our own: the peer may have some. */
  #nextSign(): number {
    if (!this.knowsPing) return Infinity;
    const ownMs = this.#heartbeatMs > 0 ? this.#heartbeatMs / 2 : SIGN_MS;
    return this.#spokeAt + Math.min(SIGN_MS, ownMs, this.#patienceMs / SIGNS_PER_PATIENCE);
  }
}
