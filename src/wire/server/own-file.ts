import { lstatSync, rmSync } from "node:fs";

/** A file or folder that was made here. Another process may have put its own in the same place since. */
export interface OwnFile {
  /** Removes it, with all that is in it; what lies there instead of it stays. */
  remove(): void;
}

export function ownFile(path: string): OwnFile {
  const made = identityOf(path);
  return {
    remove: () => {
      if (made !== undefined && identityOf(path) === made) rmSync(path, { recursive: true, force: true });
    },
  };
}

function identityOf(path: string): string | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
}
