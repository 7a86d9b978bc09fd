/** What a process is told about its surroundings: the dynamic zone of its system prompt. */

/** Built once per process, so that the bytes stay equal from call to call. */
export function environmentText(around: { cwd: string; day: string; platform: string }): string {
  return [`Working directory: ${around.cwd}`, `Date: ${around.day}`, `Platform: ${around.platform}`].join(
    "\n",
  );
}
