/** Path forms that some operating system treats as more than a name; they are refused before any file access. */

/** What is wrong with the spelling of an absolute path; null: it is fine. */
export function pathProblem(path: string): string | null {
  if (path.includes("\0")) return "a path may not contain NUL";
  if (/(?:^|\/)\\\\/.test(path)) return "a path on another host or device (\\\\…) is not taken";
  if (/(?:^|\/)[A-Za-z]:/.test(path)) return "a path with a drive or a stream (C:x, f:s) is not taken";
  if (!path.isWellFormed()) return "a path may not contain half a character";
  return null;
}
