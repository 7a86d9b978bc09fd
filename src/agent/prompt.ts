/** What a process is told about its surroundings: the dynamic zone of its system prompt. */

/** Built once per process, so that the bytes stay equal from call to call; `nowMs` is the wall clock. */
export function environmentText(around: { cwd: string; nowMs: number; platform: string }): string {
  return [
    `Working directory: ${around.cwd}`,
    `Date: ${day(around.nowMs)}`,
    `Platform: ${around.platform}`,
  ].join("\n");
}

/** The local day: a time of day would change the prompt with every process. */
function day(nowMs: number): string {
  const date = new Date(nowMs);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
