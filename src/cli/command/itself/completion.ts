/** `crux completion bash|zsh|fish`: prints the script that makes a shell call `crux __complete`. */
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";

export const completion: Command = { flags: {}, run };

/**
 * The completion script of each shell. All knowledge is in `crux __complete`; a script only passes the words and
 * returns the lines.
 */
const COMPLETION_SCRIPTS = {
  bash: `# crux, completion for bash. In ~/.bashrc: source <(crux completion bash)
_crux() {
  local value meaning current="\${COMP_WORDS[COMP_CWORD]}"
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS=$'\\t' read -r value meaning; do
    case $value in
      :file) compopt -o filenames; while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current") ;;
      :directory) compopt -o filenames; while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _crux crux
`,
  zsh: `#compdef crux
# crux, completion for zsh. In ~/.zshrc, after compinit: source <(crux completion zsh)
_crux() {
  local line value meaning
  local -a described
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    meaning=\${line#$value}
    case $value in
      :file) _files ;;
      :directory) _files -/ ;;
      ?*) described+=("\${value//:/\\\\:}:\${meaning#$'\\t'}") ;;
    esac
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#described} )) && _describe crux described
}
if [[ $funcstack[1] == _crux ]]; then _crux "$@"; else compdef _crux crux; fi
`,
  fish: `# crux, completion for fish. crux completion fish > ~/.config/fish/completions/crux.fish
function __crux_complete
  set -l words (commandline -opc) (commandline -ct)
  command crux __complete -- $words[2..-1] 2>/dev/null | while read -l line
    switch $line
      case ':file' ':directory'
        __fish_complete_path (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c crux -f -a '(__crux_complete)'
`,
} as const;

type Shell = keyof typeof COMPLETION_SCRIPTS;

function isShell(name: string): name is Shell {
  return Object.hasOwn(COMPLETION_SCRIPTS, name);
}

const USAGE = `crux completion ${Object.keys(COMPLETION_SCRIPTS).join("|")}`;

async function run({ args, console }: Call): Promise<number> {
  const [shell, ...more] = args.words;
  if (shell === undefined) throw invalid("a shell is missing", USAGE);
  if (!isShell(shell)) throw invalid(`no completion for ${shell}`, USAGE);
  if (more[0] !== undefined) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const script = COMPLETION_SCRIPTS[shell];
  if (console.mode === "json") await console.data({ shell, script });
  else await console.raw(script);
  return 0;
}
