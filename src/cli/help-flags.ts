/** The end of every help text. */
export const GLOBAL = `Flags of every command, before or after it:
      --json        JSON on stdout, errors too
  -v, --verbose     more
  -q, --quiet       only what a script needs
      --no-color    no colour (as NO_COLOR=1 does)
  -h, --help        help on the command
  -V, --version     as crux version`;
