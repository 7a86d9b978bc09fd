/** The description of the process's environment: the dynamic part of its system prompt. */

/** Built once per process, so that its bytes stay the same from request to request. */
export function environmentText(around: { cwd: string; day: string; platform: string }): string {
  return [`Working directory: ${around.cwd}`, `Date: ${around.day}`, `Platform: ${around.platform}`].join(
    "\n",
  );
}
