/**
 * Walks the grammar's tree to collect simple commands, wherever they occur. Node types are an allow-list: an unlisted
 * type makes the text uncertain. Each word and each opening must be the one that the scanner read.
 */
import type { Node } from "web-tree-sitter";
import { Claims } from "./claims.ts";
import type { ShellProgram, SimpleCommand } from "./command.ts";
import {
  checkEnd,
  type Draft,
  emptyDraft,
  isStatement,
  lastCommand,
  NodeReader,
  plainInput,
  takesInput,
} from "./draft.ts";
import { hasNumericTest, Inside } from "./inside.ts";
import { KnownValues, spellingsOf } from "./known-values.ts";
import { type Printed, printedByCommand } from "./printed.ts";
import type { Scan } from "./scanned.ts";
import { STREAM } from "./spelling.ts";
import { RESERVED } from "./tables.ts";
import { Unread } from "./unread.ts";
import { isHarmlessName } from "./variables.ts";
import { after, both, type Cwds, type Flow, stays } from "./where.ts";
import { staticWord } from "./word.ts";

const MAX_COMMANDS = 50;
const MAX_DEPTH = 200;

export interface ScannedText {
  readonly text: string;
  readonly scan: Scan;
}

export class Walker {
  readonly #text: string;
  readonly #scan: Scan;
  /** The output of the preceding command, which the current one reads. */
  #fed: Printed;
  /** The output of the last pipe. */
  #piped: Printed;
  readonly #values: KnownValues;
  readonly #home: string;
  readonly #commands: SimpleCommand[] = [];
  readonly #functions = new Set<string>();
  /** Redirections by the node of their command: the grammar attaches them to the whole list before them. */
  readonly #trailing = new Map<number, readonly Node[]>();
  readonly #claims: Claims;
  readonly #inside: Inside;
  readonly #nodes: NodeReader;
  #depth = 0;
  /** A function that changes the directory may be called anywhere, so that all directories are unknown. */
  #isLost = false;
  #draft: Draft = emptyDraft();
  /** The directories of the current command, in which its substitutions run too. */
  #cwdsNow: Cwds = null;

  constructor({ text, scan }: ScannedText, home: string) {
    this.#text = text;
    this.#scan = scan;
    this.#values = new KnownValues(text, home);
    this.#home = home;
    this.#claims = new Claims(text, scan);
    this.#inside = new Inside(text, this.#claims, {
      substitution: (node) => this.#substitution(node),
      word: (node) => this.#nodes.words(node),
      evaluates: (why) => {
        this.#draft.evaluates = why;
      },
    });
    this.#nodes = new NodeReader(this.#claims, this.#inside, {
      home,
      spellings: (piece) => this.#values.spellings(piece, this.#cwdsNow),
    });
  }

  program(root: Node, cwds: Cwds): ShellProgram {
    this.#sequence(root.children, cwds, true);
    this.#claims.checkAll();
    return { commands: this.#commands, functions: this.#functions };
  }

  /** Walks statements in sequence, each in the directory that the one before left. */
  #sequence(children: readonly Node[], cwds: Cwds, isTop = false): Flow {
    let flow = stays(cwds);
    for (const [i, child] of children.entries()) {
      if (!child.isNamed) {
        this.#claims.token(child);
        continue;
      }
      flow = this.#statement(child, flow.any);
      if (isTop && children[i + 1]?.type !== "&" && child.type === "variable_assignment")
        this.#values.learn(this.#commands.at(-1)?.assignments ?? []);
    }
    return flow;
  }

  #statement(node: Node, cwds: Cwds): Flow {
    if (++this.#depth > MAX_DEPTH) throw new Unread("nested too deeply");
    const outer = this.#draft;
    const outerCwds = this.#cwdsNow;
    this.#draft = emptyDraft();
    this.#cwdsNow = this.#isLost ? null : cwds;
    const flow = this.#byType(node, this.#cwdsNow);
    this.#draft = outer;
    this.#cwdsNow = outerCwds;
    this.#depth--;
    return this.#isLost ? stays(null) : flow;
  }

  #byType(node: Node, cwds: Cwds): Flow {
    switch (node.type) {
      case "comment":
        return stays(cwds);
      case "command":
      case "declaration_command":
      case "unset_command":
        return this.#command(node, cwds, this.#trailing.get(node.id) ?? []);
      case "redirected_statement":
        return this.#redirected(node, cwds);
      case "list":
        return this.#list(node, cwds);
      case "pipeline":
        return this.#pipeline(node, cwds);
      case "negated_command":
      case "if_statement":
      case "elif_clause":
      case "else_clause":
        return stays(this.#sequence(node.children, cwds).any);
      case "do_group":
      case "while_statement":
        return this.#loop(node.children, cwds);
      case "for_statement":
      case "c_style_for_statement":
        return this.#for(node, cwds);
      case "case_statement":
        return this.#case(node, cwds);
      case "subshell":
        this.#sequence(node.children, cwds);
        return stays(cwds);
      case "compound_statement":
        return this.#compound(node, cwds);
      case "function_definition":
        return this.#function(node, cwds);
      case "variable_assignment":
      case "variable_assignments":
        for (const child of node.type === "variable_assignment" ? [node] : node.children)
          this.#nodes.assign(child, this.#draft);
        return this.#emit(node, cwds);
      case "test_command":
        return this.#test(node, cwds);
      default:
        throw new Unread(`a ${node.type.replaceAll("_", " ")}`);
    }
  }

  /** Walks a list: `a && b` runs b only if a succeeded. */
  #list(node: Node, cwds: Cwds): Flow {
    let flow = stays(cwds);
    let any = cwds;
    let isAnd = true;
    for (const child of node.children) {
      if (!child.isNamed) {
        this.#claims.token(child);
        isAnd = child.type === "&&";
        if (!isAnd && child.type !== "||") throw new Unread(`${child.type} in a list`);
        continue;
      }
      const next = this.#statement(child, isAnd ? flow.ok : any);
      any = both(any, next.any);
      flow = { ok: isAnd ? next.ok : both(flow.ok, next.ok), any };
    }
    return { ok: flow.ok, any };
  }

  /** Each part of a pipeline runs in a shell of its own. The grammar binds `a && b 2>&1 | c` differently from bash. */
  #pipeline(node: Node, cwds: Cwds): Flow {
    let isOdd = false;
    const outer = this.#fed;
    for (const child of node.children) {
      if (!child.isNamed) this.#claims.token(child);
      else {
        const before = this.#commands.length;
        const flow = this.#statement(child, cwds);
        this.#fed = this.#printedSince(before, child);
        const isList = child.type === "list" || child.firstNamedChild?.type === "list";
        isOdd ||= isList && flow.any !== cwds && flow.any?.join("\0") !== cwds?.join("\0");
      }
    }
    this.#piped = this.#fed;
    this.#fed = outer;
    this.#values.endPipe();
    return isOdd ? stays(null) : stays(cwds);
  }

  /** The output of a node's command, without what its substitutions print. */
  #printedSince(before: number, node: Node): Printed {
    const last = this.#commands.at(-1);
    if (node.type === "pipeline") return this.#piped;
    const command = node.type === "redirected_statement" ? node.firstNamedChild : node;
    if (command?.type !== "command" || last === undefined || this.#commands.length === before)
      return undefined;
    return printedByCommand(last);
  }

  /** The second round of a loop begins in the directory where the first one ended. */
  #loop(children: readonly Node[], cwds: Cwds): Flow {
    const before = this.#commands.length;
    const flow = this.#sequence(children, cwds);
    if (flow.any?.join("\0") === cwds?.join("\0")) return flow;
    const moved = this.#commands.splice(before);
    this.#commands.push(...moved.map((command) => ({ ...command, cwds: null })));
    return stays(null);
  }

  #for(node: Node, cwds: Cwds): Flow {
    const bodies: Node[] = [];
    const among: Printed[] = [];
    let name = "";
    for (const child of node.children) {
      if (!child.isNamed) this.#claims.token(child);
      else if (child.type === "do_group" || child.type === "compound_statement") bodies.push(child);
      else if (node.type === "c_style_for_statement") this.#inside.arithmetic(child);
      else if (child.type === "variable_name") {
        this.#claims.word(child.startIndex, child.endIndex);
        if (!isHarmlessName(child.text)) this.#draft.evaluates = `it sets ${child.text}`;
        name = child.text;
      } else if (child.type !== "comment") among.push(...this.#nodes.words(child).map(spellingsOf));
    }
    this.#emitIfEvaluates(node, cwds);
    const isBound = name !== "" && this.#values.bindLoop(node, name, among);
    const flow = this.#loop(bodies, cwds);
    if (isBound) this.#values.forget(name);
    return flow;
  }

  #case(node: Node, cwds: Cwds): Flow {
    let any = cwds;
    for (const child of node.children) {
      if (!child.isNamed) this.#claims.token(child);
      else if (child.type === "case_item") any = both(any, this.#caseItem(child, cwds));
      else if (child.type !== "comment") this.#nodes.words(child);
    }
    this.#emitIfEvaluates(node, cwds);
    return stays(any);
  }

  #caseItem(node: Node, cwds: Cwds): Cwds {
    const isPattern = (child: Node) => child.endIndex <= close;
    const close = node.children.find((child) => !child.isNamed && child.type === ")")?.startIndex ?? -1;
    const statements: Node[] = [];
    for (const child of node.children) {
      if (child.isNamed && isPattern(child)) this.#nodes.words(child);
      else statements.push(child);
    }
    return this.#sequence(statements, cwds).any;
  }

  #compound(node: Node, cwds: Cwds): Flow {
    if (node.firstChild?.type !== "((") return this.#sequence(node.children, cwds);
    for (const child of node.children) if (child.isNamed) this.#inside.arithmetic(child);
    this.#emitIfEvaluates(node, cwds);
    return stays(cwds);
  }

  #function(node: Node, cwds: Cwds): Flow {
    const [name, ...rest] = node.namedChildren;
    if (name?.type !== "word") throw new Unread("a function with an odd name");
    for (const child of node.children) if (!child.isNamed) this.#claims.token(child);
    this.#claims.word(name.startIndex, name.endIndex);
    this.#functions.add(name.text);
    const moves = /\b(?:cd|pushd|popd|eval|source)\b/.test(node.text);
    this.#isLost ||= moves;
    const fed = this.#fed;
    this.#fed = undefined;
    for (const child of rest) {
      if (child.type === "file_redirect" || child.type === "herestring_redirect") this.#redirect(child, cwds);
      else this.#statement(child, moves ? null : cwds);
    }
    this.#fed = fed;
    if (this.#draft.redirects.length > 0 || this.#draft.evaluates !== null) this.#emit(node, cwds);
    return stays(cwds);
  }

  #command(node: Node, cwds: Cwds, redirects: readonly Node[]): Flow {
    this.#claims.adjacent(node);
    for (const child of node.children) {
      if (child.type === "variable_assignment" && node.type === "command")
        this.#nodes.assign(child, this.#draft);
      else if (/_redirect$/.test(child.type)) this.#redirect(child, cwds);
      else if (child.type !== "comment") this.#draft.argv.push(...this.#nodes.words(child));
    }
    for (const child of redirects) this.#redirect(child, cwds);
    return this.#emit(node, cwds);
  }

  #redirected(node: Node, cwds: Cwds): Flow {
    const redirects = node.children.filter(({ type }) => /_redirect$/.test(type));
    const [body, extra] = node.namedChildren.filter(({ type }) => !/_redirect$|^comment$/.test(type));
    if (extra !== undefined) throw new Unread("an odd redirection");
    const last = body === undefined ? undefined : lastCommand(body);
    if (body !== undefined && last !== undefined) {
      this.#trailing.set(last.id, redirects);
      return body === last ? this.#command(body, cwds, redirects) : this.#statement(body, cwds);
    }
    const fed = this.#fed;
    if (redirects.some(takesInput)) this.#fed = undefined;
    const flow = body === undefined ? stays(cwds) : this.#statement(body, cwds);
    this.#fed = fed;
    for (const redirect of redirects) this.#redirect(redirect, flow.any);
    if (this.#draft.argv.length > 0) throw new Unread("words after a redirection");
    this.#emit(node, both(cwds, flow.any));
    return flow;
  }

  #redirect(node: Node, cwds: Cwds): void {
    if (node.type === "heredoc_redirect") this.#hereDocument(node, cwds);
    else this.#nodes.redirect(node, this.#draft);
  }

  /** Reads a here-document; what follows it on its line is part of its node. */
  #hereDocument(node: Node, cwds: Cwds): void {
    const at = node.children.find(({ type }) => type === "<<" || type === "<<-");
    const document = this.#scan.hereDocuments.get(at?.startIndex ?? -1);
    if (document === undefined) throw new Unread("a here-document that is read in two ways");
    this.#claims.redirect(at?.startIndex ?? 0);
    const later: Node[] = [];
    for (const child of node.children) {
      if (child.type === "heredoc_start") this.#claims.word(child.startIndex, child.endIndex);
      else if (child.type === "heredoc_body") this.#inside.visit(child);
      else if (child.type === "heredoc_end") checkEnd(this.#text, document, child);
      else if (/_redirect$/.test(child.type)) this.#redirect(child, cwds);
      else if (!child.isNamed) this.#claims.token(child);
      else if (isStatement(child)) later.push(child);
      else if (child.type !== "file_descriptor" && child.type !== "comment")
        this.#draft.argv.push(...this.#nodes.words(child));
    }
    const input = plainInput(this.#text, document);
    if (input !== null) this.#draft.input = input;
    const flow = after(this.#draft.argv, cwds, this.#home);
    for (const child of later) this.#statement(child, both(cwds, flow.any));
  }

  /** `[` is a plain command; `[[` has a syntax of its own. */
  #test(node: Node, cwds: Cwds): Flow {
    if (node.firstChild?.type === "[") {
      this.#inside.visit(node, true);
      this.#draft.argv.push(...this.#nodes.wordsWithin(node));
      return this.#emit(node, cwds);
    }
    if (node.firstChild?.type !== "[[") throw new Unread("an odd test");
    this.#claims.word(node.startIndex, node.startIndex + 2);
    this.#inside.visit(node, true);
    if (hasNumericTest(node, this.#inside.integers)) this.#draft.evaluates = "[[ evaluates its operands";
    this.#draft.argv.push(staticWord("[["));
    return this.#emit(node, cwds);
  }

  #substitution(node: Node): void {
    const outer = this.#draft;
    this.#draft = emptyDraft();
    const children = node.children.filter(({ type }) => !/_redirect$/.test(type));
    // `$(< file)` reads the file
    for (const child of node.children)
      if (/_redirect$/.test(child.type)) this.#redirect(child, this.#cwdsNow);
    const readsFile = this.#draft.redirects.length > 0;
    if (readsFile) this.#emit(node, this.#cwdsNow);
    const before = this.#commands.length;
    this.#sequence(children, this.#cwdsNow);
    const [only, other] = children.filter(({ isNamed, type }) => isNamed && type !== "comment");
    const printed =
      only === undefined || other !== undefined || readsFile ? undefined : this.#printedSince(before, only);
    if (node.type === "process_substitution") this.#values.print(node.startIndex, [STREAM]);
    else if (printed !== undefined) this.#values.print(node.startIndex, printed);
    this.#draft = outer;
  }

  #emitIfEvaluates(node: Node, cwds: Cwds): void {
    if (this.#draft.evaluates !== null) this.#emit(node, cwds);
  }

  #emit(node: Node, cwds: Cwds): Flow {
    const { argv } = this.#draft;
    const name = argv[0]?.text;
    if (name != null && name !== "[[" && RESERVED.has(name))
      throw new Unread(`the shell word ${name} as a command`);
    if (this.#commands.length >= MAX_COMMANDS) throw new Unread(`more than ${MAX_COMMANDS} commands`);
    const { input, redirects } = this.#draft;
    const isFed = input === undefined && !redirects.some(({ operator }) => operator.startsWith("<"));
    const fed = isFed ? this.#fed : undefined;
    this.#commands.push({ ...this.#draft, cwds, source: node.text, fed });
    if (name === "read" && fed !== undefined) this.#values.bindRead(argv, fed);
    this.#draft = emptyDraft();
    return after(argv, cwds, this.#home);
  }
}
