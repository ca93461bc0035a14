/** Server-sent events from the text of a response: the subset of the HTML standard that the server writes (event, data, comments). */

/** One event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes the text in pieces and returns the events completed so far. */
export class EventParser {
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** The events completed by this piece. */
  push(piece: string): ServerEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerEvent[] {
    if (line === '') {
      const done = this.#data.length === 0 ? [] : [{ event: this.#event || 'message', data: this.#data.join('\n') }];
      this.#event = '';
      this.#data = [];
      return done;
    }
    const [field = '', value = ''] = line.split(/:(.*)/s);
    const text = value.replace(/^ /, '');
    if (field === 'event') this.#event = text;
    if (field === 'data') this.#data.push(text);
    return [];
  }
}
