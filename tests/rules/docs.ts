/** Every export says what it promises, every option its unit, default and bounds, and every file what it implements. */
import { join, relative } from 'node:path';
import ts from 'typescript';
import type { Package, SourceFile } from './workspace.js';
import { ROOT } from './workspace.js';

/** Absolute paths of the sources of a package's public entries. */
export function publicEntries({ dir, manifest }: Package): string[] {
  return Object.values(manifest.exports ?? {}).flatMap((target) => {
    const source = typeof target === 'string' ? target : (target as Record<string, unknown>)['@proj/source'];
    return typeof source === 'string' && source.endsWith('.ts') ? [join(ROOT, dir, source)] : [];
  });
}

/** `file: symbol` for each export of these entries without a doc comment at its declaration. */
export function undocumentedExports(entries: readonly string[]): string[] {
  const program = ts.createProgram(entries, compilerOptions());
  const checker = program.getTypeChecker();
  const missing = new Set<string>();
  for (const entry of entries) {
    const file = program.getSourceFile(entry);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is not a module`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const path = symbol.declarations?.[0]?.getSourceFile().fileName ?? entry;
      if (symbol.getDocumentationComment(checker).length > 0) continue;
      missing.add(`${relative(ROOT, path)}: ${exported.name}`);
    }
  }
  return [...missing];
}

/** `file: option` for each field of a `strictObject({...})` or of a constant `...Fields = {...}` without a doc comment. */
export function undocumentedOptions({ path, text }: SourceFile): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const missing: string[] = [];
  const visit = (node: ts.Node): void => {
    for (const field of fieldsOf(node))
      if (field.name !== undefined && ts.getJSDocCommentsAndTags(field).length === 0)
        missing.push(`${path}: ${field.name.getText()}`);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return missing;
}

function fieldsOf(node: ts.Node): readonly ts.ObjectLiteralElementLike[] {
  let shape: ts.Expression | undefined;
  if (ts.isCallExpression(node) && /(^|\.)strictObject$/.test(node.expression.getText())) shape = node.arguments[0];
  if (ts.isVariableDeclaration(node) && node.name.getText().endsWith('Fields')) shape = node.initializer;
  return shape !== undefined && ts.isObjectLiteralExpression(shape) ? shape.properties : [];
}

/** True if the file begins by saying what it is. */
export function hasHeader({ text }: SourceFile): boolean {
  return /^(#!.*\n)?\/[/*]/.test(text);
}

function compilerOptions(): ts.CompilerOptions {
  const base = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  return ts.convertCompilerOptionsFromJson(base.config.compilerOptions, ROOT).options;
}
