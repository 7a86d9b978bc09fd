/**
 * Watches paths that no mount can protect: a file that does not exist yet, a link. They are recorded before the
 * program starts and checked after it has ended; a new file is moved aside, under a name that no program reads, and a
 * link is restored.
 */
import { lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Watch {
  /** The files moved aside: the original path, and the new one. */
  end(): readonly { readonly path: string; readonly movedTo: string }[];
}

/** `*` in the last part of a path stands for all names of that pattern. */
export function watch(paths: readonly string[]): Watch {
  const patterns = paths.filter((path) => basename(path).includes("*"));
  const plain = paths.filter((path) => !patterns.includes(path));
  const there = patterns.flatMap(namesOf);
  const before = [...plain, ...there].map((path) => ({ path, was: stateOf(path) }));
  const made = () => patterns.flatMap(namesOf).filter((path) => !there.includes(path));
  return {
    end: () =>
      [...before, ...made().map((path) => ({ path, was: ABSENT }))].flatMap(({ path, was }) => {
        const now = stateOf(path);
        // it may have been removed, which gives the program no power
        if (now === was || now === ABSENT) return [];
        const movedTo = moveAside(path);
        if (was.startsWith(LINK)) symlinkSync(was.slice(LINK.length), path);
        return [{ path, movedTo }];
      }),
  };
}

function namesOf(pattern: string): readonly string[] {
  const literal = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  const name = new RegExp(`^${basename(pattern).split("*").map(literal).join(".*")}$`, "s");
  try {
    const names = readdirSync(dirname(pattern)).filter((each) => name.test(each) && !each.includes(ASIDE));
    return names.map((each) => join(dirname(pattern), each));
  } catch {
    return [];
  }
}

const ASIDE = ".crux-quarantine-";
const ABSENT = "absent";
const LINK = "link ";

function stateOf(path: string): string {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return ABSENT;
    return stat.isSymbolicLink() ? LINK + readlinkSync(path) : "there";
  } catch {
    return ABSENT;
  }
}

function moveAside(path: string): string {
  for (let n = 1; ; n++) {
    const aside = join(dirname(path), `${basename(path)}${ASIDE}${n}`);
    if (stateOf(aside) !== ABSENT) continue;
    renameSync(path, aside);
    return aside;
  }
}
