/** The name of the socket that programs with a fixed path know (setting `ipc.legacySocket`). */
import { readlinkSync, rmSync, symlinkSync } from "node:fs";

export const LEGACY_SOCKET = "/tmp/kairo-kernel.sock";

/** Makes the link if nothing is there; a link of an earlier daemon to the same socket is taken over. Returns its removal. */
export function linkLegacy(path: string, socketPath: string, warn: (words: string) => void): () => void {
  const isOurs = (): boolean => {
    try {
      return readlinkSync(path) === socketPath;
    } catch {
      return false;
    }
  };
  try {
    if (!isOurs()) symlinkSync(socketPath, path);
  } catch (error) {
    warn(`ipc.legacySocket: ${error instanceof Error ? error.message : String(error)}`);
    return () => {};
  }
  return () => {
    if (isOurs()) rmSync(path, { force: true });
  };
}
