/**
 * What no mount can hold: a file that is not there yet, a link. It is looked at before the program starts and when it is over;
 * what has come to stand there is moved aside, under a name that nothing reads, and a link is put back as it was.
 */
import { lstatSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Watch {
  /** What was moved aside: the path, and where it is now. */
  end(): readonly { readonly path: string; readonly movedTo: string }[];
}

export function watch(paths: readonly string[]): Watch {
  const before = paths.map((path) => ({ path, was: stateOf(path) }));
  return {
    end: () =>
      before.flatMap(({ path, was }) => {
        const now = stateOf(path);
        // it may have been removed; that gives nobody any power
        if (now === was || now === ABSENT) return [];
        const movedTo = moveAside(path);
        if (was.startsWith(LINK)) symlinkSync(was.slice(LINK.length), path);
        return [{ path, movedTo }];
      }),
  };
}

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
    const aside = join(dirname(path), `${basename(path)}.crux-quarantine-${n}`);
    if (stateOf(aside) !== ABSENT) continue;
    renameSync(path, aside);
    return aside;
  }
}
