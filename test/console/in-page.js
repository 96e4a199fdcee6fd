/** What suites ask of a page from inside: how well its colours can be told apart, what has the focus, and what is wider than the window. Each answer names elements that fail. */
;(() => {
  const text = 4.5
  const largeText = 3
  const edge = 3

  const describe = (element) => {
    const label = element.getAttribute('aria-label') ?? element.textContent ?? ''
    const classes =
      typeof element.className === 'string' && element.className !== '' ? `.${element.className.trim()}` : ''
    return `${element.localName}${classes} “${label.trim().slice(0, 40)}”`
  }

  /** Red, green and blue from 0 to 255, and alpha. */
  const parse = (colour) => {
    const numbers = (colour.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number)
    const isUnit = colour.startsWith('color(')
    const [red = 0, green = 0, blue = 0, alpha = 1] = isUnit
      ? [...numbers.slice(0, 3).map((each) => each * 255), ...numbers.slice(3)]
      : numbers
    return [red, green, blue, alpha]
  }
  const over = ([red, green, blue, alpha], below) =>
    [red, green, blue].map((each, i) => each * alpha + below[i] * (1 - alpha))

  const luminance = (colour) => {
    const [red, green, blue] = colour.map((each) => {
      const part = each / 255
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const ratio = (a, b) => {
    const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y)
    return (lighter + 0.05) / (darker + 0.05)
  }

  /** The colour behind the text of an element. */
  const background = (element) => {
    const layers = []
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor)
      layers.push(colour)
      if (colour[3] === 1) break
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255])
  }

  const isSeen = (element) =>
    element.checkVisibility({ visibilityProperty: true }) &&
    element.getClientRects().length > 0 &&
    element.closest('.unseen, [disabled], [aria-hidden=true], option') === null

  const weakText = (element) => {
    const style = getComputedStyle(element)
    const size = Number.parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    const below = background(element)
    const found = ratio(over(parse(style.color), below), below)
    return found < (isLarge ? largeText : text) ? [`${describe(element)}: ${found.toFixed(2)}`] : []
  }

  const weakEdge = (element) => {
    const below = background(element.parentElement)
    const found = ratio(over(parse(getComputedStyle(element).borderTopColor), below), below)
    return found < edge ? [`edge of ${describe(element)}: ${found.toFixed(2)}`] : []
  }

  const weakPlaceholder = (element) => {
    const below = background(element)
    const found = ratio(over(parse(getComputedStyle(element, '::placeholder').color), below), below)
    return found < text ? [`hint in ${describe(element)}: ${found.toFixed(2)}`] : []
  }

  const weakColours = () => {
    const all = [...document.querySelectorAll('body *')].filter(isSeen)
    const hasText = (element) =>
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '')
    const isField = (element) =>
      element.matches('select, textarea, input:not([type=checkbox], [type=radio], [type=file])')
    return [
      ...all.filter((element) => hasText(element) || isField(element)).flatMap(weakText),
      ...all.filter(isField).flatMap(weakEdge),
      ...all.filter((element) => element.placeholder).flatMap(weakPlaceholder),
    ]
  }

  /** Parts that a reader has to scroll sideways to see, except those that are made for it. */
  const tooWide = () =>
    [...document.querySelectorAll('html, nav, main, dialog, .panel, .notice, fieldset')].flatMap((element) =>
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline'
        ? [`${describe(element)}: ${element.scrollWidth} of ${element.clientWidth}`]
        : [],
    )

  /** Controls that Tab should reach, each with a number that identifies it. */
  const controls = () => {
    const modal = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document
    const all = modal.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')
    return [...all]
      .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
      .map((element, i) => {
        element.dataset.control = String(i)
        return `${i} ${describe(element)}`
      })
  }

  /** The element that has the focus; `undefined` if none has. `isShown`: whether its outline stands out. */
  const focused = () => {
    const element = document.activeElement
    if (element === null || element === document.body) return undefined
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
    const below = background(element.parentElement)
    const standsOut = ratio(over(parse(outlineColor), below), below) >= edge
    const isShown = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && standsOut
    return {
      name: `${element.dataset.control} ${describe(element)}`,
      isShown,
      isInDialog: element.closest('dialog:modal') !== null,
    }
  }

  window.inspect = { weakColours, tooWide, controls, focused }
})()
