import { fstatSync } from "node:fs";

/** `device`: a terminal, /dev/null and the like; `none`: closed, or not readable. */
export type StreamKind = "pipe" | "file" | "socket" | "device" | "none";

export function streamKind(fd: number): StreamKind {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO()) return "pipe";
    if (stat.isFile()) return "file";
    if (stat.isSocket()) return "socket";
    return stat.isCharacterDevice() ? "device" : "none";
  } catch {
    return "none";
  }
}
