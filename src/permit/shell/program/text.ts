/** Searching, listing, showing and editing text. */
import { awkPrograms, commands, jqFilters, responseFiles, second, sedScripts } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

const GREP = `-E|--extended-regexp -F|--fixed-strings -G|--basic-regexp -P|--perl-regexp -e|--regexp= -i|--ignore-case --no-ignore-case -v|--invert-match
  -w|--word-regexp -x|--line-regexp -c|--count --color=? --colour=? -L|--files-without-match -l|--files-with-matches -m|--max-count= -o|--only-matching
  -q|--quiet|--silent -s|--no-messages -b|--byte-offset -H|--with-filename -h|--no-filename --label= -n|--line-number -T|--initial-tab -Z|--null
  -A|--after-context= -B|--before-context= -C|--context= -a|--text --binary-files= -D|--devices= -d|--directories= --exclude= --exclude-dir= -I --include=
  -r|--recursive -R|--dereference-recursive --line-buffered -U|--binary -z|--null-data -V|--version --help -u`;
const SEARCH = `${GREP} -g|--glob= --iglob= -t|--type= --type-not= --type-list -j|--threads= -M|--max-columns= --max-depth= --maxdepth= --hidden --no-ignore -S|--smart-case
  -N|--no-line-number --no-heading --heading --multiline --pcre2 --stats --files --trim --column --sort= --sortr= -p|--pretty -L|--follow --vimgrep --json
  --passthru -u|--unrestricted --one-file-system --crlf --engine= --encoding= -G= -Q --literal --nocolor --nogroup --group --depth= --ignore= --ignore-dir= --no-config`;

export const TEXT: readonly ProgramSpec[] = [
  {
    names: "grep egrep fgrep zgrep ggrep pcregrep pcre2grep bzgrep xzgrep",
    plain: GREP,
    reads: "-f|--file= --exclude-from= --file-list= --include-from=",
  },
  {
    names: "rg ripgrep",
    plain: SEARCH.replace(" -z|--null-data", " --null-data"),
    starts: "--pre= --pre-glob= --hostname-bin= -z|--search-zip",
    reads: "-f|--file= --ignore-file= --type-add= --hyperlink-format=",
  },
  {
    names: "ag ack pt ugrep ug",
    plain: SEARCH.replace(" -z|--null-data", " --null-data"),
    starts: "--pager=? --filter= -z|--search-zip|--decompress --view=? --filter-magic-label= --proximate=",
    reads:
      "-p|--path-to-ignore= -f|--file= --ackrc= --files-from= -x --type-add= --type-set= --config=? --ignore-files=? --from=",
    writes: "--create-config= --save-config=?",
  },
  {
    names: "find gfind",
    style: "word",
    ignoresEnd: true,
    plain: `-H -L -P -O -D= -print -print0 -ls -depth -d -daystart -mount -xdev -follow -noleaf -prune -quit -empty -true -false -readable -writable -executable -nouser
      -nogroup -not -and -or -a -o -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -lname= -ilname= -type= -xtype= -size= -mtime= -atime=
      -ctime= -mmin= -amin= -cmin= -maxdepth= -mindepth= -perm= -user= -group= -uid= -gid= -links= -inum= -printf= -regextype= -newermt= -newer= -samefile= -used= -fstype=`,
    starts: "-exec -execdir -ok -okdir",
    writes: "-delete -fprint= -fprint0= -fprintf= -fls=",
    reads: "-files0-from=",
  },
  {
    names: "fd fdfind",
    plain: `-H|--hidden -I|--no-ignore -u|--unrestricted -s|--case-sensitive -i|--ignore-case -g|--glob --regex -F|--fixed-strings -a|--absolute-path -l|--list-details -L|--follow
      -p|--full-path -d|--max-depth= --min-depth= --exact-depth= -E|--exclude= --prune -t|--type= -e|--extension= -S|--size= --changed-within= --changed-before= -o|--owner= --format=
      -c|--color= -j|--threads= -1 -q|--quiet --max-results= --show-errors --strip-cwd-prefix -0|--print0 -h|--help -V|--version --no-ignore-vcs --one-file-system --and=`,
    starts: "-x|--exec= -X|--exec-batch= --gen-completions=",
    reads: "--ignore-file=",
    moves: "-C|--base-directory= --search-path= --batch-size=",
  },
  {
    names: "sed gsed ssed",
    plain:
      "-n|--quiet|--silent -e|--expression= -E|-r|--regexp-extended -s|--separate -u|--unbuffered -z|--null-data --posix --debug --sandbox -l|--line-length= --help --version -b|--binary --follow-symlinks",
    writes: "-i|--in-place=? -I=?",
    reads: "-f|--file=",
    operands: sedScripts,
  },
  {
    names: "awk gawk mawk nawk original-awk",
    stops: true,
    plain:
      "-F|--field-separator= -v|--assign= -b|--characters-as-bytes -c|--traditional -C|--copyright -g|--gen-pot -h|--help -M|--bignum -n|--non-decimal-data -N|--use-lc-numeric -O|--optimize -P|--posix -r|--re-interval -s|--no-optimize -S|--sandbox -t|--lint-old -V|--version -W= -e|--source=",
    starts: "-l|--load= -i|--include= -D|--debug=? -f|--file= -E|--exec= -W=",
    writes: "-d|--dump-variables=? -o|--pretty-print=? -p|--profile=? -L|--lint=? -I|--trace",
    operands: awkPrograms,
  },
  {
    names: "jq gojq jaq yq xq dasel fx",
    plain:
      "-c|--compact-output -r|--raw-output -R|--raw-input -s|--slurp -S|--sort-keys -n|--null-input -e|--exit-status --tab --indent= -j|--join-output -a|--ascii-output -C|--color-output -M|--monochrome-output --arg= --argjson= --args --jsonargs --stream --seq -h|--help -V|--version -P|--prettyPrint -o|--output-format= -p|--input-format= -y -Y",
    reads:
      "-f|--from-file= -L|--library-path= --slurpfile= --rawfile= --argfile= --run-tests=? --from-yaml --load-file=",
    writes: "-i|--inplace|--in-place --split-exp= --split-exp-file=",
    operands: jqFilters,
  },
  {
    names: "sort gsort",
    plain:
      "-b|--ignore-leading-blanks -d|--dictionary-order -f|--ignore-case -g|--general-numeric-sort -i|--ignore-nonprinting -M|--month-sort -h|--human-numeric-sort -n|--numeric-sort -R|--random-sort -r|--reverse --sort= -V|--version-sort --batch-size= -c|--check=? -C -k|--key= -m|--merge -s|--stable -S|--buffer-size= -t|--field-separator= --parallel= -u|--unique -z|--zero-terminated --debug --help --version",
    starts: "--compress-program=",
    writes: "-o|--output= -T|--temporary-directory=",
    reads: "--files0-from= --random-source=",
  },
  {
    names: "uniq",
    plain:
      "-c|--count -d|--repeated -D --all-repeated=? -f|--skip-fields= --group=? -i|--ignore-case -s|--skip-chars= -u|--unique -z|--zero-terminated -w|--check-chars= --help --version",
    operands: second,
  },
  {
    names: "xxd hexdump hd",
    plain: "-a -b -C -c= -E -e -g= -i -l= -o= -p -ps -s= -u -v -n= -x -d -h",
    writes: "-r|-revert",
    operands: second,
    style: "word",
  },
  {
    names: "shuf",
    plain: "-e|--echo -i|--input-range= -n|--head-count= -r|--repeat -z|--zero-terminated --help --version",
    writes: "-o|--output=",
    reads: "--random-source=",
  },
  {
    names: "split csplit",
    plain:
      "-a|--suffix-length= -b|--bytes= -C|--line-bytes= -d|--numeric-suffixes=? -x|--hex-suffixes=? -e|--elide-empty-files -l|--lines= -n|--number= -t|--separator= -u|--unbuffered --verbose --help --version -s -k -z",
    starts: "--filter=",
    writes: "--additional-suffix= -f|--prefix=",
  },
  { names: "tee", plain: "-a|--append -i|--ignore-interrupts -p --output-error=?" },
  {
    names: "tree",
    plain:
      "-a -d -l -f -x -L= -P= -I= --gitignore --ignore-case --matchdirs --metafirst --prune --info --noreport --charset= --filelimit= -q -N -Q -p -u -g -s -h --si --du -D --timefmt= -F --inodes --device -v -t -c -U -r --dirsfirst --filesfirst --sort=? -i -A -S -n -C -X -J --help --version",
    writes: "-o= -R -H=",
    reads: "--fromfile --fromtabfile --gitfile= --infofile= --hintro= --houtro= -T=",
  },
  {
    names: "eza exa lsd bat batcat delta diff-so-fancy difft",
    plain:
      "-l|--long -a|--all -T|--tree -L|--level= -r|--reverse -s|--sort= --icons=? --git -n|--number -p|--plain --color= -h -A -1 --line-range= --language= --theme= --style= --wrap= -H|--highlight-line= -r= --list-languages --paging=never",
    starts: "--pager= --paging= -P --completion=? --map-syntax= --lessopen",
    reads: "--config-file= --config= --ignore-config --file-name= --diff --theme-file=",
  },
  {
    names: "file",
    plain:
      "-b|--brief -E -h|--no-dereference -i|--mime --mime-type --mime-encoding --extension --apple -k|--keep-going -l|--list -L|--dereference -n|--no-buffer -N|--no-pad -0|--print0 -r|--raw -s|--special-files -v|--version --help -P|--parameter= -e|--exclude= -F|--separator= -d -c|--checking-printout",
    starts: "-S|--no-sandbox -z|--uncompress -Z|--uncompress-noreport",
    writes: "-C|--compile -p|--preserve-date",
    reads: "-m|--magic-file= -f|--files-from=",
  },
  {
    names: "iconv recode uconv",
    plain: "-f|--from-code= -t|--to-code= -l|--list -c -s|--silent --verbose",
    writes: "-o|--output=",
  },
  {
    names: "diff colordiff sdiff diff3 cmp interdiff",
    plain:
      "-u|--unified=? -c|--context=? -q|--brief -s -y|--side-by-side -i|--ignore-case -w|--ignore-all-space -b|--ignore-space-change -B|--ignore-blank-lines -a|--text -r|--recursive -N|--new-file -x|--exclude= -W|--width= --color=? -d|--minimal -U= -C= -l -t -T -p -R -E -n -e -f --help --version --strip-trailing-cr --suppress-common-lines --label= -F= -D|--ifdef=",
    starts: "--diff-program=",
    writes: "-o|--output=",
    reads: "-X|--exclude-from= --from-file= --to-file=",
  },
  {
    names: "patch",
    plain:
      "-p|--strip= -N|--forward -R|--reverse -s|--quiet|--silent --dry-run -u|--unified -c|--context -n|--normal -l|--ignore-whitespace -F|--fuzz= -f|--force -t|--batch -E|--remove-empty-files -v|--version --help --verbose --binary --posix --merge=?",
    starts: "-e|--ed -g|--get=",
    writes:
      "-o|--output= -r|--reject-file= -b|--backup -B|--prefix= -z|--suffix= -V|--version-control= -Y|--basename-prefix= --backup-if-mismatch",
    reads: "-i|--input=",
    moves: "-d|--directory=",
  },
  {
    names: "less more most pg lesspipe view",
    plain:
      "-N -S -R -r -F -X -i -I -n -m -M -E -e -g -G -s -w -W -f -q -Q -u -U -c -C -a -A -V|--version -h= -j= -x= -y= -z= -t= -b= -p|--pattern= --use-color --mouse --no-init --chop-long-lines --LINE-NUMBERS",
    starts:
      "-P|--prompt= -k|--lesskey-file= --lesskey-src= --lesskey-content= -T|--tag-file= -+ --lesskey-context=",
    writes: "-o|--log-file= -O|--LOG-FILE=",
    operands: commands(/^\+/),
  },
  {
    names: "man apropos whatis info",
    plain:
      "-k|--apropos -f|--whatis -w|--where|--path|--location -W -a|--all -S|-s|--sections= -l -d -u -D|--default -i|--ignore-case -I|--match-case --regex --wildcard -e|--extension= -L|--locale= -m= -r= -7|--ascii -E|--encoding= -K|--global-apropos -V|--version -h|--help -?|--usage --no-hyphenation --no-justification",
    starts:
      "-P|--pager= -H|--html=? -X|--gxditview=? -T|--troff-device=? -p|--preprocessor= -Z|--ditroff -t|--troff --batch= --subnodes --init-file=",
    reads: "-C|--config-file= -M|--manpath= -B= -l|--local-file",
    writes: "-o|--output= --restore= --dribble=",
  },
  {
    names:
      "vim vi nvim ex gvim vimdiff rvim emacs emacsclient nano pico micro kak hx joe ed red mcedit code subl",
    plain: "-R -v -n -h|--help --version -d -o -O -p -b -l= -N -Z",
    starts:
      "-c|--cmd= -S= -s= -u= -U= -e -es -E --startuptime= --remote= --remote-send= --remote-expr= -w= -W= --serverlist -i= -t= -q= -T= -x --eval|-eval= -f|--funcall= --load|-load= -l= --batch|-batch --script= --listen= --server= --headless --embed --api-info -L= --insert= --install-extension= --uninstall-extension= -nw -kill -Q|--quick --no-init-file -C|--directory= -X= --speller= --rcfile= --extensions-dir= --user-data-dir=",
    moves: "--chdir=",
    operands: commands(/^\+/),
  },
  {
    names: "column fold fmt nl tac rev expand unexpand pr join paste cut tr wc head tail cat comm od",
    plain: "-t -s= -n -b -w= -d= -f= -c -l -v -q --help --version",
  },
  {
    names: "perltidy pandoc asciidoctor rst2html sphinx-build mkdocs hugo jekyll mdbook doxygen typst quarto",
    plain: "-f|--from= -t|--to= -s|--standalone --toc -h|--help -v|--version --wrap= --columns= --quiet -q",
    starts:
      "-F|--filter= -L|--lua-filter= --pdf-engine= --pdf-engine-opt= -r|--require= -D= --extract-media= --plugins=",
    reads:
      "-d|--defaults= --data-dir= --template= -H|--include-in-header= -B|--include-before-body= -A|--include-after-body= --metadata-file= --reference-doc= --syntax-definition= --abbreviations= --csl= --bibliography= -c|--config= --config-file= --conf= -C= -a=",
    writes:
      "-o|--output= --log= --print-default-template= -b= -d= --site-dir= --destination= --dest-dir= -w=",
    moves: "--resource-path= -s= --source= --root=",
    operands: responseFiles,
  },
  {
    names:
      "convert magick mogrify identify composite montage gs ghostscript ffmpeg ffprobe ffplay sox exiftool pdftotext qpdf",
    style: "word",
    plain:
      "-resize= -quality= -format= -crop= -rotate= -verbose -version -h -i= -c= -c:v= -c:a= -b= -r= -ss= -t= -vf= -af= -map= -y -n -hide_banner -loglevel= -v= -show_streams -show_format -print_format= -of= -dBATCH -dNOPAUSE -q -sDEVICE=",
    starts:
      "-dNOSAFER -dDELAYSAFER -c= -process= -define= -filter_complex_script= -filter_script= -execute= -if= -config= -f=",
    writes:
      "-write= -report -sOutputFile= -o= -w= -tagsfromfile= -overwrite_original -passlogfile= -progress= -vstats_file= -dump_attachment= -sdp_file= --json-output",
    reads: "-attach= -@= -I= -P- -dPermitFileRead= -fpre= -vpre= -apre= -read= --password-file=",
    operands: responseFiles,
  },
];
