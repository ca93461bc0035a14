/** When to ask a peer for a sign of life, when to give one, and when silence ends the connection: 37/ZMTP, "Connection Heartbeating". */

/** A connection that is not read says at least this often that it lives. Milliseconds. */
const SIGN_MS = 1000;
/** And this often within the time for which the peer bears silence. */
const SIGNS_PER_PATIENCE = 6;

/** The clocks of one connection. All but {@link probe} do nothing that matters before the handshake is complete. */
export class Liveness {
  /** The peer knows PING, which those of ZMTP 3.0 do not. */
  knowsPing = false;
  readonly #heartbeatMs: number;
  readonly #timeoutMs: number;
  #heardAt: number;
  #spokeAt: number;
  /** When we sent the PING after which nothing came; `Infinity` when there is none. */
  #askedAt = Infinity;
  /** When somebody asked whether the peer lives, and nothing came since; `Infinity` when nobody has. */
  #probedAt = Infinity;
  /** When the peer wants to be given up if nothing follows its PING. */
  #ttlEndsAt = Infinity;
  /** How long the peer last said that it bears silence. */
  #patienceMs = Infinity;
  /** Nothing can be heard now, for a reason that is not the peer's. */
  #deaf = false;

  constructor({ heartbeatMs, timeoutMs }: { readonly heartbeatMs: number; readonly timeoutMs: number }, now: number) {
    this.#heartbeatMs = heartbeatMs;
    this.#timeoutMs = timeoutMs;
    this.#heardAt = this.#spokeAt = now;
  }

  /** True when silence is noticed: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.knowsPing && this.#heartbeatMs > 0;
  }

  /** What our PINGs announce. We promise a word per interval, and ask for as much patience beyond it as we have ourselves. */
  get ttlMs(): number {
    return this.#heartbeatMs > 0 ? this.#heartbeatMs + this.#timeoutMs : 0;
  }

  /** Something came. */
  hear(now: number): void {
    this.#deaf = false;
    this.#heardAt = now;
    this.#askedAt = this.#probedAt = this.#ttlEndsAt = Infinity;
  }

  /** Something was sent. */
  speak(now: number): void {
    this.#spokeAt = now;
  }

  /** A PING came. */
  onPing(ttlMs: number): void {
    if (ttlMs === 0) return;
    this.#patienceMs = ttlMs;
    this.#ttlEndsAt = this.#heardAt + ttlMs;
  }

  /** Nothing could be heard until then, and perhaps still cannot: silence up to there proves nothing. */
  excuse(until: number, stillDeaf: boolean): void {
    if (until > this.#heardAt) this.hear(until);
    this.#deaf = stillDeaf;
  }

  /** Gives the peer until the next interval, or without heartbeats until their timeout, to be heard. True when a PING must be sent. */
  probe(now: number): boolean {
    if (!this.knowsPing || this.#probedAt !== Infinity) return false;
    this.#probedAt = now;
    this.#spokeAt = now;
    return true;
  }

  /** When {@link tick} is due. With `isHeld`, what comes is not read: then silence proves nothing, but we must not fall silent ourselves. */
  deadline(isHeld: boolean): number {
    return isHeld || this.#deaf ? this.#nextSign() : Math.min(this.#silentAt(), this.#nextPing());
  }

  /** What is due: a PING, or the end with this sentence. Only at the {@link deadline}. */
  tick(now: number, isHeld: boolean): 'ping' | { readonly silence: string } {
    if (!isHeld && !this.#deaf) {
      if (this.#silentAt() <= now) return { silence: `nothing was heard for ${Math.round(now - this.#heardAt)} ms` };
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

  /** Twice as often as anybody may expect. Also without heartbeats of our own: the peer may have some. */
  #nextSign(): number {
    if (!this.knowsPing) return Infinity;
    const ownMs = this.#heartbeatMs > 0 ? this.#heartbeatMs / 2 : SIGN_MS;
    return this.#spokeAt + Math.min(SIGN_MS, ownMs, this.#patienceMs / SIGNS_PER_PATIENCE);
  }
}
