/** Paths among the operands of commands whose meaning is not known: what forbids a path forbids handing it over. */
import { posix } from "node:path";
import type { Case } from "./case.ts";
import { restrictPath } from "./judge-path.ts";
import { operandPath } from "./paths.ts";
import { takesText } from "./read-only.ts";
import { hardAsk, strictest, type Verdict } from "./verdict.ts";

/** They change or remove all that they name; `mv` reads it as well, for it appears elsewhere. */
const CHANGE_ALL = new Set("rm rmdir unlink shred touch mkdir tee truncate chmod chown mv".split(" "));
/** They read all but the last. */
const CHANGE_LAST = new Set("cp ln install".split(" "));

/** null: no operand is forbidden. A command that is not known turns a rule's refusal into a question that no mode answers. */
export function restrictOperands(c: Case, argv: readonly string[], cwd: string): Verdict | null {
  if (takesText(argv)) return null;
  const name = posix.basename(argv[0] ?? "");
  const paths = argv.slice(1).flatMap(pathsIn);
  const found = paths.flatMap((operand, i) => {
    const path = operandPath(cwd, operand);
    if (CHANGE_ALL.has(name)) return [write(c, path), ...(name === "mv" ? [read(c, path)] : [])];
    if (CHANGE_LAST.has(name)) return [i === paths.length - 1 ? write(c, path) : read(c, path)];
    return [soften(read(c, path)), soften(restrictPath(c, { access: "write", path }))];
  });
  const verdicts = found.filter((verdict) => verdict !== null);
  return verdicts.length === 0 ? null : strictest(verdicts);
}

function pathsIn(arg: string): readonly string[] {
  const value = arg.slice(arg.indexOf("=") + 1);
  if (arg.startsWith("-")) return arg.includes("=") && value !== "" ? [value] : [];
  const plain = arg.startsWith("@") ? arg.slice(1) : arg;
  return arg.includes("=") && value !== "" ? [plain, value] : [plain];
}

function read(c: Case, path: string): Verdict | null {
  return restrictPath(c, { access: "read", path });
}

function write(c: Case, path: string): Verdict | null {
  return restrictPath(c, { access: "write", path, replaces: true });
}

function soften(verdict: Verdict | null): Verdict | null {
  if (verdict?.behavior !== "deny" || verdict.reason.kind === "protected") return verdict;
  return hardAsk("rule", verdict.reason.detail, `${verdict.reason.detail}; the command may use it`);
}
