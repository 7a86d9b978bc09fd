/** The exit code when stdout is closed, which a shell reports for SIGPIPE; Node turns that signal into an error. */
export const STDOUT_CLOSED = 141;
