// Lint for what types and formatting do not catch. Formatting is prettier's business and has no rule here.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const TESTS = ['**/*.test.ts', '**/test/**/*.ts', 'tests/**/*.ts', 'packages/testkit/**/*.ts'];

/** Files that bundle for a neutral platform: no global beyond the language itself. */
const PURE = ['packages/frames/src/**/*.ts', 'packages/*/src/**/engine/*.ts', 'packages/*/src/**/shared/*.ts'];

/** Where the machine's clock, timers and randomness enter; everything else gets them as arguments. */
const EDGES = [
  'packages/observe/src/{observe,token}.ts',
  'packages/heartbeat/src/clock.ts',
  'packages/transport/src/zmq/**/*.ts',
  'packages/transport/src/entropy.ts',
  'packages/transport/src/virtual/turn.ts',
  'packages/zmtp/src/turn.ts',
  'packages/dashboard/src/live/**/*.ts',
];

const NODE_GLOBALS = ['Buffer', 'clearImmediate', 'console', 'crypto', 'global', 'process', 'setImmediate'];
const TIME_GLOBALS = [
  'Date',
  'clearInterval',
  'clearTimeout',
  'performance',
  'queueMicrotask',
  'setInterval',
  'setTimeout',
];

const noRandom = {
  selector: "MemberExpression[object.name='Math'][property.name='random']",
  message: 'Randomness comes from the injected Entropy, so that a run can be replayed.',
};
const forbid = (names, message) => names.map((name) => ({ name, message }));
const timeIsAnArgument = forbid(
  [...TIME_GLOBALS, 'setImmediate', 'clearImmediate', 'crypto'],
  'Time and randomness come from transport.clock and transport.entropy, so that everything runs in the simulator.',
);

export default defineConfig(
  globalIgnores(['**/dist/**', '**/coverage/**', '**/reports/**', '**/.turbo/**']),
  js.configs.recommended,
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        Buffer: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        process: 'readonly',
        setTimeout: 'readonly',
        URL: 'readonly',
      },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    // One program for all packages: with projectService every package checks its siblings again, at twice the time.
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A number in a message reads as itself; what this rule is for are objects and undefined.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `import type` is what erases: with verbatimModuleSyntax an inline `type` leaves an empty import behind.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        // A default that handles the rest is a decision; a union without one must be handled to the last member.
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      // `while (true)` with a return inside is the plain form of a loop that ends in the middle.
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // `_` marks what a signature demands and the body does not need.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Narrowing to void is how a callback says that its result is not for the caller.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
    },
  },
  {
    // Runs in a browser: another program, with the types of the DOM.
    files: ['packages/dashboard/**/*.{ts,tsx}'],
    languageOptions: {
      parserOptions: { project: './packages/dashboard/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    ignores: [...EDGES, ...TESTS],
    rules: {
      'no-console': 'error',
      'no-restricted-globals': ['error', ...timeIsAnArgument],
      'no-restricted-syntax': ['error', noRandom],
    },
  },
  {
    files: [
      'packages/transport/src/zmq/**/*.ts',
      'packages/transport/src/entropy.ts',
      'packages/heartbeat/src/clock.ts',
    ],
    ignores: TESTS,
    rules: { 'no-console': 'error' },
  },
  {
    files: PURE,
    ignores: TESTS,
    rules: {
      'no-restricted-globals': [
        'error',
        ...forbid(
          [...NODE_GLOBALS, ...TIME_GLOBALS],
          'This file is pure: it must run on any platform, in any simulator.',
        ),
      ],
    },
  },
  {
    files: TESTS,
    rules: {
      // A test that meets undefined fails with a stack trace, which is all it needs to do.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // expect(spy.method) compares functions; nobody calls them unbound.
      '@typescript-eslint/unbound-method': 'off',
      // Stubs implement signatures they have no use for.
      '@typescript-eslint/no-empty-function': 'off',
      // A stub may be async because the real one is.
      '@typescript-eslint/require-await': 'off',
    },
  },
);
