/** The default instructions of the auto mode classifier. `crux auto-mode defaults` prints them. */

export interface AutoModeLists {
  /** Calls that may run. */
  readonly allow: readonly string[];
  /** Calls that may not run, unless the user clearly asked for exactly that. */
  readonly softDeny: readonly string[];
  /** Facts about the environment of the agent. */
  readonly environment: readonly string[];
}

/** An entry of a list in the settings that is replaced by the default list. */
const DEFAULTS_ENTRY = "$defaults";

export const AUTO_MODE_DEFAULTS: AutoModeLists = {
  allow: [
    "Commands that only read: listing, viewing and searching files and processes",
    "Asking a program for its version or its help",
    "git commands that only read: status, diff, log, show, blame",
    "Running the tests of the project",
    "Linters, formatters and type checkers of the project",
    "Building the project",
    "Installing the dependencies that the project's own manifest or lock file names",
    "Making, changing, moving and deleting single files within the working directories",
    "Commits on a local branch",
  ],
  softDeny: [
    "Running code that came from outside: downloaded scripts, unknown packages, pipes into a shell or an interpreter",
    "Deleting or overwriting recursively or beyond recovery: rm -rf, git reset --hard, git clean, dropping tables, truncating",
    "Changing the configuration of shells, editors or git of the user",
    "Raising privileges: sudo, su, setuid, changing owners or permissions of what is not the project's",
    "Opening ports, tunnels or services that others on the network can reach",
    "Making something run later by itself: cron, systemd units, start-up files, hooks",
    "Switching protections off: sandboxes, checks of certificates, firewalls, signing, hooks of git",
    "Changing cloud resources, production systems, or data that is shared with others",
    "git push, publishing packages, deploying, sending messages or opening requests in the user's name",
    "Reading credentials, or sending credentials or private data to another machine",
  ],
  environment: [
    "The agent works in a terminal session of Crux on the user's own machine",
    "Nobody confirms each call: what is let through happens at once",
    "The usual tools of a developer are installed",
    "The user may write in any language",
  ],
};

/** The effective lists: a non-empty list of the settings replaces the default, which the entry `$defaults` includes. */
export function autoModeLists(given: {
  readonly allow?: readonly string[] | undefined;
  readonly soft_deny?: readonly string[] | undefined;
  readonly environment?: readonly string[] | undefined;
}): AutoModeLists {
  const { allow, softDeny, environment } = AUTO_MODE_DEFAULTS;
  return {
    allow: inForce(given.allow, allow),
    softDeny: inForce(given.soft_deny, softDeny),
    environment: inForce(given.environment, environment),
  };
}

function inForce(given: readonly string[] = [], defaults: readonly string[]): readonly string[] {
  if (given.length === 0) return defaults;
  return given.flatMap((entry) => (entry === DEFAULTS_ENTRY ? defaults : [entry]));
}
