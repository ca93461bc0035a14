/** The pages that users and contributors read: their blocks, links, and the files they mention. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './workspace.js';

/** One fenced block of a page. */
export interface Block {
  /** `packages/client/README.md:12`. */
  readonly name: string;
  readonly page: string;
  /** The word after the fence; empty without one. */
  readonly language: string;
  readonly text: string;
}

const entriesOf = (folder: string) => readdirSync(join(ROOT, folder), { withFileTypes: true });
const foldersIn = (folder: string) =>
  entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [`${folder}/${entry.name}`] : []));
const pagesIn = (folder: string) =>
  entriesOf(folder).flatMap(({ name }) => (name.endsWith('.md') ? [join(folder, name)] : []));

/** Every page for users and contributors, as paths from the root, except protocols and decisions. */
export const PAGES: readonly string[] = [
  ...['.', 'bench', 'docs', 'docs/guide', 'examples'],
  ...['packages', 'apps', 'examples'].flatMap(foldersIn),
]
  .flatMap(pagesIn)
  .filter((page) => !page.endsWith('CHANGELOG.md'));

/** The protocols, the decisions, and the pages beside the tests. */
export const OTHER_PAGES: readonly string[] = [
  ...['docs/adr', 'docs/protocols', 'bench/results'],
  ...foldersIn('tests'),
].flatMap(pagesIn);

/** The text of a page. */
export const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The fenced blocks of a text, with the line of their fence. */
export function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ index, 1: language = '', 2: code = '' }) => ({
    name: `${page}:${text.slice(0, index).split('\n').length}`,
    page,
    language,
    text: code,
  }));
}

/** Where our files are on the web; a registry page can link only there. */
const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { repository: { url: string } };
const WEB = repository.url.replace(/^git\+|\.git$/g, '');

const withoutBlocks = (text: string) => text.replaceAll(/^```\w*\n[^]*?^```$/gm, '');

/** The targets of the links of a text. */
export function linksOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
}

/** A link that leaves our files. */
const isForeign = (link: string) => /^https?:/.test(link) && !link.startsWith(`${WEB}/`);

/** True when a link works in the registry: it is absolute, or leads to a heading of the page. */
export const worksAnywhere = (link: string): boolean => /^(https?:|#)/.test(link);

/** The links of a page that lead to no file or heading of ours. */
export function brokenLinks(page: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    if (isForeign(link)) return false;
    const [target = '', heading] = link.split('#');
    const onTheWeb = target.startsWith(WEB);
    const path = onTheWeb
      ? target.slice(WEB.length).replace(/^\/(blob|tree)\/main\//, '')
      : join(dirname(page), target);
    const file = target === '' ? page : path;
    if (onTheWeb && /^(\/|$)/.test(path)) return false;
    if (!existsSync(join(ROOT, file))) return true;
    if (heading === undefined || !file.endsWith('.md')) return false;
    return !headingsOf(file === page ? text : textOf(file)).includes(heading);
  });
}

/** The names by which headings can be linked to. */
function headingsOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The files of the workspace that a text names, not counting those it links to. */
export function mentionedFiles(text: string): string[] {
  const read = withoutBlocks(text).replaceAll(/\[[^\]]*\]\([^)]*\)/g, '');
  return read.match(/\b(?:apps|bench|deploy|docs|examples|packages|scripts|src|tests|vectors)\/[\w./*-]*\w/g) ?? [];
}
