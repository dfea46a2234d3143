// What bash, zsh and fish complete after "hbmview": commands, flags, and what a flag may say.
// Flags of the server stand where no command does.

const wordsOf = (commands) => commands.filter(({ name }) => name !== "serve");
const valued = (flag) => flag.kind !== "switch";
const names = (commands) => wordsOf(commands).map(({ name }) => name);
const firstSentence = (text) =>
  text.replace(/ \([^()]*\)$/, "").split(/[;:](?: |$)|\. /)[0].replace(/\s+/g, " ").trim();

// --- bash ---

/** "report:--by) ..." for each flag that takes a value; what is not listed is free text, which completes to nothing. */
function bashValues(commands) {
  return commands.flatMap((command) => command.flags.filter(valued).map((flag) => {
    const answer = flag.kind === "choice" ? `COMPREPLY=($(compgen -W '${flag.choices.join(" ")}' -- "$word"))`
      : flag.kind === "path" ? `compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"))` : ":";
    return `        ${command.name}:--${flag.name}) ${answer}; return ;;`;
  })).join("\n");
}

export function bashCompletion({ commands }) {
  const flags = commands.map((command) => {
    const all = command.flags.map((flag) => `--${flag.name}`).join(" ");
    return `        ${command.name}) flags='${all}' ;;`;
  }).join("\n");
  return `# bash completion of hbmview; made from the program's own flags.
_hbmview() {
    local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command=serve flag='' flags=''
    # "--flag=va" is three words to bash: --flag, =, va.
    if [[ $word == = ]]; then flag=$before word=''
    elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then flag=\${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $before == --* ]]; then flag=$before; fi
    COMPREPLY=()
    if [[ $COMP_CWORD -gt 1 ]]; then
        case \${COMP_WORDS[1]} in ${[...names(commands), "serve"].join(" | ")}) command=\${COMP_WORDS[1]} ;; esac
    fi
    case $command:$flag in
${bashValues(commands)}
    esac
    case $command in
${flags}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$word"))
    elif [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W '${names(commands).join(" ")}' -- "$word"))
    elif [[ $command != serve ]]; then
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -F _hbmview hbmview
`;
}

// --- zsh ---

const zshText = (text) => firstSentence(text).replace(/[[\]:\\]/g, "\\$&").replace(/'/g, "'\\''");

function zshFlag(flag) {
  const what = `--${flag.name}${valued(flag) ? "=" : ""}[${zshText(flag.text)}]`;
  if (!valued(flag)) return `'${what}'`;
  const action = flag.kind === "choice" ? `(${flag.choices.join(" ")})` : flag.kind === "path" ? "_files" : "";
  return `'${what}:${zshText(flag.value || flag.kind)}:${action}'`;
}

export function zshCompletion({ commands }) {
  const flagsOf = (command) => command.flags.map((flag) => `            ${zshFlag(flag)}`).join(" \\\n");
  const cases = wordsOf(commands).map((command) => `        ${command.name}) _arguments \\
${flagsOf(command)} \\
            '*:${zshText(command.word || "PATH")}:_files' ;;`).join("\n");
  const described = wordsOf(commands).map(({ name, title }) => `        '${name}:${zshText(title)}'`).join("\n");
  return `#compdef hbmview
# zsh completion of hbmview; made from the program's own flags.
_hbmview() {
    local curcontext=$curcontext command=$words[2]
    local -a commands=(
${described}
    )
    if (( CURRENT > 2 )) && [[ $command == (${names(commands).join("|")}) ]]; then
        words=($words[1] $words[3,-1])
        (( CURRENT-- ))
        case $command in
${cases}
        esac
        return
    fi
    (( CURRENT == 2 )) && [[ $words[CURRENT] != -* ]] && _describe command commands
    _arguments \\
${flagsOf(commands[0])}
}
_hbmview "$@"
`;
}

// --- fish ---

const fishText = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;

function fishFlag(condition, flag) {
  const kind = !valued(flag) ? "" : flag.kind === "choice" ? ` -x -a ${fishText(flag.choices.join(" "))}`
    : flag.kind === "path" ? " -r -F" : " -x";
  const what = fishText(firstSentence(flag.text));
  return `complete -c hbmview -n ${fishText(condition)} -l ${flag.name}${kind} -d ${what}`;
}

export function fishCompletion({ commands }) {
  const none = `not __fish_seen_subcommand_from ${names(commands).join(" ")}`;
  const lines = commands.flatMap((command) => {
    const condition = command.name === "serve" ? none : `__fish_seen_subcommand_from ${command.name}`;
    const own = command.name === "serve" ? [`complete -c hbmview -n ${fishText(none)} -f`]
      : [`complete -c hbmview -n ${fishText(none)} -a ${command.name} -d ${fishText(firstSentence(command.title))}`];
    return [...own, ...command.flags.map((flag) => fishFlag(condition, flag))];
  });
  return `# fish completion of hbmview; made from the program's own flags.\n${lines.join("\n")}\n`;
}
