/** The dialog before an action: what will happen, the token if it is not known yet, and a word to type before a dangerous action. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Live } from '../live/live.js';
import type { Request } from '../live/context.js';

/** Its subject: an action, or only the token. */
export type Subject = Request | 'token';

/** The dialog; open as long as it is mounted. */
export function ActionDialog({
  live,
  subject,
  onClose,
}: {
  live: Live;
  subject: Subject;
  onClose: (said?: string) => void;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState('');
  const [word, setWord] = useState('');
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const request = subject === 'token' ? undefined : subject;
  const title = request?.title ?? 'Enter the token';
  const asksToken = !live.hasToken;
  const isReady =
    !isBusy && (!asksToken || token !== '') && (request?.confirm === undefined || word === request.confirm);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    if (request === undefined) {
      live.setToken(token.trim());
      onClose('Actions are unlocked until this page is closed.');
      return;
    }
    setBusy(true);
    const { action } = request;
    const confirmed = action.action === 'purge' ? { ...action, confirm: word } : action;
    const result = await (asksToken ? live.act(confirmed, token.trim()) : live.act(confirmed));
    setBusy(false);
    if (result.ok) {
      onClose(result.text);
      return;
    }
    setToken('');
    setFailure(result.text);
  };

  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={() => onClose()}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="dialog-title">{title}</h2>
        <p>
          {request?.question ??
            'Actions need the token of the file that the program was started with (--http-token-file).'}
        </p>
        {asksToken && (
          <label>
            Token
            <input
              type="password"
              autocomplete="off"
              value={token}
              aria-describedby="token-hint"
              onInput={(event) => setToken(event.currentTarget.value)}
            />
            <small id="token-hint">Kept in memory until you close or reload this page.</small>
          </label>
        )}
        {request?.confirm !== undefined && (
          <label>
            Type “{request.confirm}” to confirm
            <input autocomplete="off" value={word} onInput={(event) => setWord(event.currentTarget.value)} />
          </label>
        )}
        {failure !== '' && (
          <p role="alert" class="failure">
            {failure}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!isReady}>
            {request === undefined ? 'Unlock' : title}
          </button>
        </div>
      </form>
    </dialog>
  );
}
