/**
 * The text of a tool result for a vendor whose format cannot mark a result as failed: the text must say it, in its first
 * word or, after what an aborted command printed, in a line like that of every tool's failure.
 */
const SAYS_FAILURE = /^error|\nError \[[A-Z_]+\]: /i;

export function resultText({ content, is_error }: { content: string; is_error?: boolean }): string {
  return is_error === true && !SAYS_FAILURE.test(content) ? `Error: ${content}` : content;
}
