// The `prepack` of every published package: `npm pack` would leave ranges of the workspace in its manifest.
if (!/^pnpm\//.test(process.env.npm_config_user_agent ?? '')) {
  console.error(
    'Pack this package with pnpm: npx pnpm@10.34.9 pack. npm would leave workspace: and catalog: ranges in its manifest.',
  );
  process.exitCode = 1;
}
