/** Debian's Chromium for the dashboard tests: a new one for each, without requests of its own; and the errors of the page in it. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** Where to save screenshots. */
export const SHOTS = fileURLToPath(new URL('../../reports/dashboard/', import.meta.url));

const PROGRAM = process.env['PROJ_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A running browser. */
export interface TestBrowser {
  /**
   * A page with its own profile, and the list of its errors: from the console, from scripts, requests to other hosts.
   */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<{ page: Page; errors: readonly string[] }>;
  readonly close: () => Promise<void>;
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly html: readonly string[];
}

/** Starts Chromium. */
export async function startBrowser(): Promise<TestBrowser> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: apt-get install chromium (or set PROJ_CHROMIUM)`);
  mkdirSync(SHOTS, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), 'proj-chromium-'));
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
  const browser = await chromium.launch({ executablePath: PROGRAM, headless: true, args: FLAGS, env });
  return {
    open: (url, options) => openPage(browser, url, options),
    close: async () => {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  // Only the time of the test ends what hangs.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) errors.push(`a request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, errors };
}

/** What axe calls serious or critical on the current page, one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Through the debugger, because the page's own policy allows no foreign script. Views share one document.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(`${axe.source}; undefined`);
  const findings = await page.evaluate<Finding[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary) })))",
  );
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, html }) => `${id}: ${html.join(' | ')}`);
}

/** Goes to a view by its link, and waits for its heading. */
export async function show(page: Page, hash: string, heading: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
}
