/** `crux init [what] [name]`: creates starter files in this folder. Never overwrites an existing file. */
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault, messageOf } from "../../../abi/errors.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { KINDS, type Kind } from "./init-templates.ts";

export const init: Command = { flags: {}, run };

const USAGE = `crux init [${Object.keys(KINDS).join("|")}] [name]`;
/** The templates used without an argument. */
const FIRST = ["agents", "settings"] as const;
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

interface Made {
  readonly wrote: readonly string[];
  readonly kept: readonly string[];
  readonly next: readonly string[];
}

async function run({ args, console, host }: Call): Promise<number> {
  const [what, name, ...more] = args.words;
  if (more[0] !== undefined) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const all = (what === undefined ? FIRST : [what]).map((word) => make(host.cwd, kindOf(word), name));
  const [wrote, kept] = [all.flatMap((made) => made.wrote), all.flatMap((made) => made.kept)];
  const next = wrote.length === 0 ? [] : [...new Set(all.flatMap((made) => made.next))];
  if (console.mode === "json") await console.data({ wrote, kept, next });
  else if (console.mode === "quiet") for (const path of wrote) await console.line(path);
  else {
    for (const path of wrote) await console.line(`wrote ${path}`);
    for (const path of kept) await console.line(`is there already, left as it is: ${path}`);
    for (const step of next) await console.line(`  → next: ${step}`);
  }
  return 0;
}

function kindOf(word: string): Kind {
  const kind = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
  if (kind === undefined) throw invalid(`nothing to begin with is called ${word}`, USAGE);
  return kind;
}

function make(dir: string, { templates, defaultName, next }: Kind, given: string | undefined): Made {
  if (given !== undefined && defaultName === undefined) throw invalid(`unknown argument: ${given}`, USAGE);
  const name = given ?? defaultName ?? "";
  if (name !== "" && !NAME.test(name))
    throw invalid(`not a name: ${name}`, "up to 64 of a to z, 0 to 9 and -, like release-notes");
  const [wrote, kept]: [string[], string[]] = [[], []];
  for (const { path, text } of templates) {
    const file = path.replaceAll("NAME", name);
    const isNew = writeNew(dir, file, text.replaceAll("NAME", name));
    (isNew ? wrote : kept).push(file);
  }
  return { wrote, kept, next: next.map((step) => step.replaceAll("NAME", name)) };
}

/** False: the name is taken. Never writes through a symlink. */
function writeNew(dir: string, file: string, text: string): boolean {
  const path = join(dir, file);
  try {
    for (let parent = dirname(path); parent.length > dir.length; parent = dirname(parent))
      if (lstatSync(parent, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        throw new Fault({
          code: "PERMISSION",
          message: `${parent} is a link; nothing is written through it`,
        });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Fault) throw error;
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new Fault({
      code: "PERMISSION",
      message: `${path} could not be written: ${messageOf(error)}`,
      cause: error,
    });
  }
}
