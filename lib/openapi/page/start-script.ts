/**
 * Runs in the browser before the script of the page, which writes style sheets and `style` attributes. A content security
 * policy with a nonce refuses both, unless the first carry the nonce, and the second are set as properties.
 */
export const START_SOURCE = `'use strict';
(() => {
  const { nonce } = document.querySelector('style')
  const { createElement } = Document.prototype
  Document.prototype.createElement = function (name, options) {
    const element = createElement.call(this, name, options)
    if (String(name).toLowerCase() === 'style') element.nonce = nonce
    return element
  }
  const { setAttribute } = Element.prototype
  Element.prototype.setAttribute = function (name, value) {
    if (String(name).toLowerCase() === 'style' && this.style) this.style.cssText = value
    else setAttribute.call(this, name, value)
  }
  const { get, set } = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')
  Object.defineProperty(Element.prototype, 'innerHTML', {
    configurable: true,
    get,
    set(html) {
      set.call(this, String(html ?? '').replace(/(<[a-z][^<>]*\\s)style=(?=["'])/gi, '$1data-style-later='))
      for (const element of (this.content ?? this).querySelectorAll('[data-style-later]')) {
        element.style.cssText = element.getAttribute('data-style-later')
        element.removeAttribute('data-style-later')
      }
    }
  })
})()
`
