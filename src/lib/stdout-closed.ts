/**
 * The exit code when stdout is closed, as a shell reports for SIGPIPE: Node ignores the signal and raises an error
 * instead.
 */
export const STDOUT_CLOSED = 141;
