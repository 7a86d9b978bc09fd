/** The exit code, as the shell reports a program that SIGPIPE ended: Node ignores the signal and gives us the error instead. */
export const STDOUT_CLOSED = 141;
