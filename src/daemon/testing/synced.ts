/** What is synced while `act` runs, by the number of its inode, in that order. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

export async function syncedBy(act: () => Promise<unknown>): Promise<readonly number[]> {
  const synced: number[] = [];
  const real = fs.fsyncSync;
  fs.fsyncSync = (fd) => {
    synced.push(fs.fstatSync(fd).ino);
    real(fd);
  };
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    fs.fsyncSync = real;
    syncBuiltinESMExports();
  }
  return synced;
}
