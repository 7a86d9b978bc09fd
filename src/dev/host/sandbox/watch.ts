/**
 * Watches paths that no mount can protect: a file that does not exist yet, a link. They are recorded before the
 * program starts and checked after it has ended; a new file is moved aside, under a name that no program reads, and a
 * link is restored.
 *
 * Their folders are held open meanwhile, and files are looked up and moved in these: whatever a program has put in the
 * place of a folder, no file elsewhere is touched.
 */
import { closeSync, lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openFolder } from "../../folder.ts";

export interface Watch {
  /** The files moved aside: the original path, and the new one. Call once. */
  end(): readonly { readonly path: string; readonly movedTo: string }[];
}

/** `*` in the last part of a path stands for all names of that pattern. */
export function watch(paths: readonly string[]): Watch {
  const folders = new Map([...new Set(paths.map(dirname))].map((path) => [path, open(path)]));
  const places = () =>
    paths.flatMap((path) => {
      const [folder, name] = [dirname(path), basename(path)];
      const at = atOf(folders.get(folder));
      const names = name.includes("*") ? namesOf(at, name) : [name];
      return names.map((each) => ({ path: join(folder, each), at, name: each }));
    });
  const before = new Map(places().map((place) => [place.path, stateOf(place)]));
  const putBack = (place: Place & { readonly path: string }) => {
    const was = before.get(place.path) ?? ABSENT;
    const now = stateOf(place);
    // it may have been removed, which gives the program no power
    if (now === was || now === ABSENT) return [];
    const aside = moveAside(place);
    if (was.startsWith(LINK)) symlinkSync(was.slice(LINK.length), join(place.at, place.name));
    return [{ path: place.path, movedTo: join(dirname(place.path), aside) }];
  };
  const close = () => {
    for (const fd of folders.values()) if (fd !== undefined) closeSync(fd);
  };
  return {
    end: () => {
      try {
        return places().flatMap(putBack);
      } finally {
        close();
      }
    },
  };
}

/** A name in a folder, and the path under which the folder is found whatever becomes of its own. */
interface Place {
  readonly at: string;
  readonly name: string;
}

/** undefined: no such folder. */
function open(folder: string): number | undefined {
  try {
    return openFolder(folder);
  } catch {
    return undefined;
  }
}

function atOf(fd: number | undefined): string {
  return `/proc/self/fd/${fd ?? "none"}`;
}

function namesOf(folder: string, pattern: string): readonly string[] {
  const literal = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  const name = new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "s");
  try {
    return readdirSync(folder).filter((each) => name.test(each) && !each.includes(ASIDE));
  } catch {
    return [];
  }
}

export const ASIDE = ".crux-quarantine-";
const ABSENT = "absent";
const LINK = "link ";

function stateOf({ at, name }: Place): string {
  try {
    const path = join(at, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return ABSENT;
    return stat.isSymbolicLink() ? LINK + readlinkSync(path) : "there";
  } catch {
    return ABSENT;
  }
}

/** Returns the new name. */
export function moveAside({ at, name }: Place): string {
  for (let n = 1; ; n++) {
    const aside = `${name}${ASIDE}${n}`;
    if (stateOf({ at, name: aside }) !== ABSENT) continue;
    renameSync(join(at, name), join(at, aside));
    return aside;
  }
}
