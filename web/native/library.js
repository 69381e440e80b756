// The imports of math.c and callbacks.c. Module.host is the object of the package that a module belongs to.
mergeInto(LibraryManager.library, {
  tsw_exp: function (x) {
    return Math.exp(x)
  },
  tsw_log: function (x) {
    return Math.log(x)
  },
  tsw_pow: function (x, y) {
    return Math.pow(x, y)
  },
  tsw_report: function (user, iteration, count, history, residual) {
    return Module['host']['report'](user, iteration, count, history, residual)
  },
  tsw_log_line: function (user, level, message) {
    Module['host']['logLine'](user, level, message)
  },
  tsw_suspend: function () {
    return Module['host']['suspend']()
  },
  // Where WebAssembly can suspend its stack, it does so until the promise is settled. Elsewhere it never pauses.
  tsw_suspend__postset: 'if (WebAssembly["Suspending"]) _tsw_suspend = new WebAssembly["Suspending"](_tsw_suspend);'
})
