// Declarations show what an editor should: wherever they say `z.input` or `z.output` of a schema, the options themselves, each with its comment, type and default from
// the source. See docs/adr/0030-types-that-teach.md.
import { readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import ts from 'typescript';

const SETTINGS = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
  // Comments are in the sources of siblings, too.
  customConditions: ['@proj/source'],
};
const SHOWN =
  ts.NodeBuilderFlags.NoTruncation |
  ts.NodeBuilderFlags.MultilineObjectLiterals |
  ts.NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope;
/** Names of Node's that need its types. */
const NODE_TYPES = /\b(Buffer|NodeJS\.\w+|AbortSignal)\b|from 'node:/;

/** The files of declarations below a folder. */
export const declarationsBelow = (folder) => filesBelow(folder, /\.d\.ts$/);

const filesBelow = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter((path) => ending.test(path))
    .map((path) => resolve(folder, path));

/** The finished text of every file of declarations of the libraries, by its path. One program for all: most of the time goes into Node's types and zod's. */
export function showOptions(libraries) {
  const packages = libraries.map((folder) => ({
    declarations: declarationsBelow(`${folder}/dist`),
    sources: filesBelow(`${folder}/src`, /(^|[/\\])options\.ts$/),
  }));
  const program = ts.createProgram(
    packages.flatMap(({ declarations, sources }) => [...declarations, ...sources]),
    SETTINGS,
  );
  return new Map(
    packages.flatMap(({ declarations, sources }) => {
      const schemas = describeSchemas(program, sources);
      return declarations.map((path) => [path, tidy(path, declare(path, program, schemas))]);
    }),
  );
}

/** Of each schema of the package: what its options say of themselves, by their path, such as `curve.keys`. */
function describeSchemas(program, paths) {
  const checker = program.getTypeChecker();
  const schemas = new Map();
  for (const path of paths) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path));
    for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const shapes = shapesOf(checker, checker.getTypeOfSymbol(symbol));
      if (shapes.length > 0) schemas.set(symbol.name, describeShapes(checker, shapes));
    }
  }
  return schemas;
}

/** The shapes of the objects that a type of zod is made of. */
function shapesOf(checker, type) {
  const name = type.symbol?.name ?? '';
  if (!/^Zod/.test(name))
    return type.isUnionOrIntersection() ? type.types.flatMap((one) => shapesOf(checker, one)) : [];
  const args = checker.getTypeArguments(type);
  if (/^Zod(Mini)?Object$/.test(name)) return args.slice(0, 1);
  const inner = /^Zod(Mini)?Pipe$/.test(name) ? args.slice(0, 1) : args;
  return inner
    .flatMap((one) => (checker.isTupleType(one) ? checker.getTypeArguments(one) : [one]))
    .flatMap((one) => shapesOf(checker, one));
}

function describeShapes(checker, shapes, prefix = '', texts = new Map()) {
  for (const field of shapes.flatMap((shape) => checker.getPropertiesOfType(shape))) {
    const path = prefix + field.name;
    const comment = ts.displayPartsToString(field.getDocumentationComment(checker));
    const [source] = field.declarations ?? [];
    const fallback = source === undefined ? undefined : defaultOf(checker, source.initializer ?? source.name);
    texts.set(path, { comment, fallback });
    describeShapes(checker, shapesOf(checker, checker.getTypeOfSymbol(field)), `${path}.`, texts);
  }
  return texts;
}

/** The value of the outermost `.default(value)`, as it is written; `undefined` where none is or it is no literal. */
function defaultOf(checker, node) {
  if (node === undefined) return undefined;
  if (ts.isCallExpression(node)) {
    const { expression, arguments: args } = node;
    if (ts.isIdentifier(expression) && expression.text === 'withDefault') return literal(checker, args[1]);
    if (!ts.isPropertyAccessExpression(expression)) return undefined;
    if (expression.name.text === 'default') return literal(checker, args[0]);
    return /^z\b/.test(expression.expression.getText()) ? undefined : defaultOf(checker, expression.expression);
  }
  if (!ts.isIdentifier(node)) return undefined;
  let symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol?.valueDeclaration;
  return declaration !== undefined && ts.isVariableDeclaration(declaration)
    ? defaultOf(checker, declaration.initializer)
    : undefined;
}

function literal(checker, node) {
  if (node === undefined) return undefined;
  const isPlain = (one) =>
    ts.isLiteralExpression(one) ||
    [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(one.kind) ||
    (ts.isArrayLiteralExpression(one) && one.elements.every(isPlain));
  if (isPlain(node)) return node.getText().replaceAll(/(?<=\d)_(?=\d)/g, '');
  const type = checker.getTypeAtLocation(node);
  return type.isLiteral() ? JSON.stringify(type.value) : undefined;
}

/** Replaces `z.input<typeof schema>` and `z.output<typeof schema>` in one file of declarations. */
function declare(path, program, schemas) {
  const file = program.getSourceFile(path);
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter({ newLine: ts.NewLineKind.LineFeed });
  const edits = [];
  const visit = (node) => {
    if (!ts.isTypeReferenceNode(node) || !/^z\w*\.(input|output)$/.test(node.typeName.getText())) {
      ts.forEachChild(node, visit);
      return;
    }
    const [query] = node.typeArguments ?? [];
    const texts = query !== undefined && ts.isTypeQueryNode(query) ? schemas.get(query.exprName.getText()) : undefined;
    if (texts === undefined)
      throw new Error(`${relative('.', path)}: no options.ts exports the schema of ${node.getText()}`);
    const shown = checker.typeToTypeNode(checker.getTypeFromTypeNode(node), node, SHOWN);
    const text = printer.printNode(ts.EmitHint.Unspecified, withComments(shown, texts), file);
    const whole = ts.isTypeAliasDeclaration(node.parent) && ts.isTypeLiteralNode(shown) ? node.parent : undefined;
    edits.push(
      whole === undefined
        ? { from: node.getStart(), to: node.end, text }
        : { from: whole.getStart(), to: whole.end, text: `interface ${whole.name.text} ${text}` },
    );
  };
  visit(file);
  let text = file.text;
  for (const { from, to, text: by } of edits.reverse()) text = text.slice(0, from) + by + text.slice(to);
  return text;
}

function withComments(root, texts) {
  const visitAt = (prefix) => (node) => {
    if (!ts.isPropertySignature(node)) return ts.visitEachChild(node, visitAt(prefix), undefined);
    const path = prefix + node.name.text;
    const visited = ts.visitEachChild(node, visitAt(`${path}.`), undefined);
    const { comment = '', fallback } = texts.get(path) ?? {};
    const lines = comment === '' ? [] : comment.split('\n');
    if (fallback !== undefined) lines.push(`@defaultValue ${fallback}`);
    if (lines.length === 0) return visited;
    const words = lines.length === 1 ? `* ${lines[0]} ` : `*\n${lines.map((line) => ` * ${line}\n`).join('')} `;
    const kind = ts.SyntaxKind.MultiLineCommentTrivia;
    return ts.addSyntheticLeadingComment(visited, kind, words.replaceAll('*/', '*\\/'), true);
  };
  return ts.visitNode(root, visitAt(''));
}

/** Without the schemas that nothing names any more, and without zod where they were all. Says where Node's types are needed. */
function tidy(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const uses = new Map();
  const count = (node) => {
    if (ts.isIdentifier(node)) uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
    ts.forEachChild(node, count);
  };
  count(file);
  const isUnused = (statement) =>
    ts.isVariableStatement(statement) &&
    statement.declarationList.declarations.every(
      ({ name, type }) => /^z\./.test(type?.getText() ?? '') && uses.get(name.text) === 1,
    );
  const unused = file.statements.filter(isUnused);
  let tidied = text;
  for (const statement of unused.reverse())
    tidied = tidied.slice(0, statement.getStart(file, true)) + tidied.slice(statement.end).replace(/^\n/, '');
  if (!/\bz\./.test(tidied)) tidied = tidied.replace(/^import \* as z from 'zod';\n/m, '');
  tidied = tidied.replace(/^import 'zod';\n/m, '');
  return NODE_TYPES.test(tidied) && !tidied.startsWith('///') ? `/// <reference types="node" />\n${tidied}` : tidied;
}
